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
}
