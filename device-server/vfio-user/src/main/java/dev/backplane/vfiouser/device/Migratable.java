// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

import java.lang.foreign.MemorySegment;

/**
 * A device whose state can be saved from one server and resumed in another (vfio-user migration, device states of
 * {@code linux/vfio.h}). Called by the same thread as the methods of {@link PciDevice}.
 */
public interface Migratable {
    /** RUNNING to STOP: when this returns, the device accesses no memory, signals no interrupt and changes no state. */
    void stop();

    /** STOP to RUNNING: goes on, looking at every ring once as if its doorbell had rung. */
    void resume();

    /** Size in bytes of the state as {@link #save} would write it now. */
    long stateBytes();

    /** Writes the state while stopped. {@code out} has {@link #stateBytes} bytes. */
    void save(MemorySegment out);

    /**
     * Replaces the state while stopped. The state is as hostile as any other input: a bad one leaves the device reset.
     *
     * @throws IllegalArgumentException when the state is not one of this device: the message says what does not fit
     */
    void restore(MemorySegment in);
}
