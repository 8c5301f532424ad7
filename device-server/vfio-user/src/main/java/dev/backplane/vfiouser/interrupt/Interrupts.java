// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

/**
 * The interrupts of one device, as the device sees them. Any thread may call; no call blocks or allocates. Without a
 * client, after a reset or with bus mastering off nothing is signalled.
 */
public interface Interrupts {
    /** True while the guest has MSI-X enabled, that is, while the client has given eventfds for MSI-X vectors. */
    boolean messageSignalled();

    /**
     * Signals MSI-X vector {@code vector}. A masked vector becomes pending instead and is signalled when unmasked.
     * Vectors outside the table, and vectors without an eventfd, are counted and dropped.
     */
    void signal(int vector);

    /**
     * Sets the level of the INTx pin. The client is signalled on assertion, and again on unmask while it is still
     * asserted (the pin is level-triggered and auto-masked).
     */
    void pin(boolean asserted);
}
