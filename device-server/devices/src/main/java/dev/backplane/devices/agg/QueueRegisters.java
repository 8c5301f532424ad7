// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.RO;
import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/** The register block of one queue. Blocks 0 to 7 are transmit queues, 8 to 15 receive queues. */
public final class QueueRegisters {
    /** The block; addresses and size are fixed while the queue is enabled. */
    public static final Struct LAYOUT = Struct.registers(
                    "bp_agg_queue", "Registers of one queue; block n is at BP_AGG_QUEUES + n * BP_AGG_QUEUE_BYTES.")
            .u64("descriptors", RW, "Guest address of the descriptor array, 64-byte aligned.")
            .u64("completions", RW, "Guest address of the completion array, 64-byte aligned.")
            .u64("indices", RW, "Guest address of struct bp_agg_indices, 64-byte aligned.")
            .u32("size", RW, "Descriptors in the ring: a power of two from min_ring_size to max_ring_size.")
            .u32("vector", RW, AggRegisters.NO_VECTOR, "MSI-X vector; all-ones for none.")
            .u32("control", RW, "BP_AGG_QUEUE_ENABLE.")
            .u32("state", RO, "BP_AGG_QUEUE_STATE_*.")
            .u32("error", RO, "BP_AGG_QUEUE_ERROR_* that stopped the queue.")
            .u32("error_index", RO, "Index that the queue was at when it stopped.")
            .u32("moderation_usecs", RW, "Longest delay of an interrupt in microseconds; 0: at once.")
            .u32("moderation_frames", RW, "Frames after which the interrupt comes at once; 0: no such limit.")
            .reservedTo(0x40)
            .size(0x40);

    public static final int BYTES = LAYOUT.size();
    public static final int DESCRIPTORS = LAYOUT.offset("descriptors");
    public static final int COMPLETIONS = LAYOUT.offset("completions");
    public static final int INDICES = LAYOUT.offset("indices");
    public static final int SIZE = LAYOUT.offset("size");
    public static final int VECTOR = LAYOUT.offset("vector");
    public static final int CONTROL = LAYOUT.offset("control");
    public static final int STATE = LAYOUT.offset("state");
    public static final int ERROR = LAYOUT.offset("error");
    public static final int ERROR_INDEX = LAYOUT.offset("error_index");
    public static final int MODERATION_USECS = LAYOUT.offset("moderation_usecs");
    public static final int MODERATION_FRAMES = LAYOUT.offset("moderation_frames");

    public static final int ENABLE = 1;

    /** States of a queue. */
    public static final int STATE_DISABLED = 0;

    public static final int STATE_RUNNING = 1;
    public static final int STATE_STOPPED = 2;

    /** Errors that stop a queue. */
    public static final int ERROR_BAD_CONFIGURATION = 1;

    public static final int ERROR_BAD_INDEX = 2;
    public static final int ERROR_NOT_MAPPED = 3;
    public static final int ERROR_NOT_SHARED = 4;
    public static final int ERROR_BROKEN_MEMORY = 5;
    public static final int ERROR_INTERNAL = 6;

    public static final Constants CONSTANTS = Constants.of("Queue", "values of a queue's registers")
            .add("BP_AGG_QUEUE_ENABLE", ENABLE, "RW: the queue works; writing 0 returns when it has stopped")
            .add("BP_AGG_QUEUE_STATE_DISABLED", STATE_DISABLED, "not enabled")
            .add("BP_AGG_QUEUE_STATE_RUNNING", STATE_RUNNING, "works")
            .add("BP_AGG_QUEUE_STATE_STOPPED", STATE_STOPPED, "stopped by an error; disable it, then enable it again")
            .add("BP_AGG_QUEUE_ERROR_NONE", 0, "no error")
            .add("BP_AGG_QUEUE_ERROR_BAD_CONFIGURATION", ERROR_BAD_CONFIGURATION, "size or alignment is not allowed")
            .add("BP_AGG_QUEUE_ERROR_BAD_INDEX", ERROR_BAD_INDEX, "producer index is more than a ring ahead")
            .add("BP_AGG_QUEUE_ERROR_NOT_MAPPED", ERROR_NOT_MAPPED, "ring or indices are not in guest memory")
            .add("BP_AGG_QUEUE_ERROR_NOT_SHARED", ERROR_NOT_SHARED, "guest memory is not shared with the server")
            .add("BP_AGG_QUEUE_ERROR_BROKEN_MEMORY", ERROR_BROKEN_MEMORY, "guest memory was truncated")
            .add("BP_AGG_QUEUE_ERROR_INTERNAL", ERROR_INTERNAL, "fault of the device server, see its log")
            .build();

    private QueueRegisters() {}
}
