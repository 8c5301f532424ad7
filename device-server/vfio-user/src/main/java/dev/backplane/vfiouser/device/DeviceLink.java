// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

import dev.backplane.vfiouser.interrupt.Interrupts;
import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.foreign.MemorySegment;

/** What a device can do to the guest it is attached to. Any thread may use it until the device is detached. */
public interface DeviceLink {
    /** The guest's memory, as far as the client has mapped it. */
    GuestMemory memory();

    /** The device's interrupts. */
    Interrupts interrupts();

    /** Bus Master Enable of the command register: while false the device must neither access memory nor interrupt. */
    boolean busMaster();

    /**
     * The memory behind the client-mappable areas of a BAR, of the BAR's size; zeroed at first, then left alone by the
     * library (also by a reset).
     *
     * @throws IllegalArgumentException when the BAR has none
     */
    MemorySegment mappedBar(int bar);

    /** The word of {@link #markDeath} once this process has ended, or the device is served no more. */
    int DEAD = 0x4000_0000;

    /**
     * Has the kernel change a word of a mapped BAR when this process ends, however it ends (SIGKILL included), so that a
     * driver learns of it without touching a register: not 0 and without the bit {@link #DEAD} while the device is
     * served, {@code DEAD} afterwards. Where the kernel cannot do it the word stays 0. For {@code attach}; it holds until
     * the device is served no more. One word of a device: after the first call it does nothing.
     *
     * @param offset of the u32 in {@link #mappedBar}, a multiple of 4
     */
    void markDeath(int bar, long offset);
}
