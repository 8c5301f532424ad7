// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

import dev.backplane.vfiouser.pci.PciFunction;

/**
 * A PCI device model: all that a device has to know to be presented to a guest. It sees neither sockets nor messages.
 *
 * <p>Threads: all methods but {@link #function} are called by one thread at a time, in the order in which the guest's
 * accesses arrived, with no lock held; a method returns soon (well under a second) and never waits for the guest or for
 * another device. Data paths of the device may run on other threads at any time between {@link #attach} and {@link
 * #detach}.
 *
 * <p>A guest's bad access is never fatal: a read of nothing gives 0 or all-ones as the device documents, a write of
 * nothing is dropped; the device counts both.
 */
public interface PciDevice {
    /** What the device looks like on the bus. The same object at each call. */
    PciFunction function();

    /** A client has connected and may now access the device. {@code link} is valid until {@link #detach} returns. */
    void attach(DeviceLink link);

    /**
     * Reads {@code width} (1, 2, 4 or 8) bytes at {@code offset} of a BAR. The library has checked that the access lies
     * inside the BAR, is naturally aligned, and touches neither the MSI-X structures nor client-mappable memory.
     *
     * @return the value, zero-extended
     */
    long read(int bar, long offset, int width);

    /** Writes the low {@code width} (1, 2, 4 or 8) bytes of {@code value}; checked as for {@link #read}. */
    void write(int bar, long offset, int width, long value);

    /**
     * Returns to the state after power-on. When this returns, the device neither reads nor writes guest memory, and
     * signals no interrupt, on behalf of anything from before the reset.
     */
    void reset(ResetKind kind);

    /** The client has gone. As {@link #reset}, and the link is not used any more once this returns. */
    void detach();
}
