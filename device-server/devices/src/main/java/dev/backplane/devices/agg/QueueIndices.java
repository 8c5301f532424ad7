// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DEVICE;
import static dev.backplane.vfiouser.layout.Access.DRIVER;

import dev.backplane.vfiouser.layout.Struct;

/**
 * The indices of one ring in guest memory: one cache line for each writer. All indices run freely through 32 bits; the
 * place in the ring is index modulo size. An event index wants a wake-up once the other side's index passes it: with
 * {@code old} and {@code now} the other side's index, when {@code now - event - 1 < now - old} (unsigned, 32 bits).
 */
public final class QueueIndices {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_agg_indices", "Indices of one ring, free-running; one cache line for each writer.")
            .u32("producer", DRIVER, "One past the last descriptor made available; stored with release.")
            .u32("interrupt_event", DRIVER, "Interrupt once completed passes this index.")
            .reservedTo(0x40)
            .u32("completed", DEVICE, "One past the last descriptor completed; stored with release.")
            .u32("doorbell_event", DEVICE, "Ring the doorbell once producer passes this index.")
            .reservedTo(0x80)
            .size(0x80);

    public static final int BYTES = LAYOUT.size();
    public static final int PRODUCER = LAYOUT.offset("producer");
    public static final int INTERRUPT_EVENT = LAYOUT.offset("interrupt_event");
    public static final int COMPLETED = LAYOUT.offset("completed");
    public static final int DOORBELL_EVENT = LAYOUT.offset("doorbell_event");

    private QueueIndices() {}
}
