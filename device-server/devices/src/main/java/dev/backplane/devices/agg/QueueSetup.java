// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/** Checks what a driver has set up for a queue, and makes the ring of it. */
final class QueueSetup {
    private static final int ALIGNMENT = 64;

    private QueueSetup() {}

    /** Returns a {@code BP_AGG_QUEUE_ERROR_*}, 0 if the queue can work. */
    static int check(VnicState state, int queue, DeviceLink link) {
        if (!plausible(state, queue) || link == null) {
            return QueueRegisters.ERROR_BAD_CONFIGURATION;
        }
        GuestMemory memory = link.memory();
        int token = memory.enter();
        try {
            ring(state, queue, link).refresh();
            return 0;
        } catch (GuestMemoryFault fault) {
            return QueueStatus.error(fault);
        } finally {
            memory.exit(token);
        }
    }

    /** Whether all of the ring is shared with the server; else its queue takes messages, and time. */
    static boolean shared(VnicState state, int queue, GuestMemory memory) {
        int at = VnicState.queue(queue);
        long size = state.getInt(at + QueueRegisters.SIZE);
        boolean transmit = queue < AggRegisters.MAX_QUEUE_PAIRS;
        int token = memory.enter();
        try {
            return memory.shared(
                            state.getLong(at + QueueRegisters.DESCRIPTORS),
                            size * (transmit ? TransmitDescriptor.BYTES : ReceiveDescriptor.BYTES))
                    && memory.shared(
                            state.getLong(at + QueueRegisters.COMPLETIONS),
                            size * (transmit ? TransmitCompletion.BYTES : ReceiveCompletion.BYTES))
                    && memory.shared(state.getLong(at + QueueRegisters.INDICES), QueueIndices.BYTES);
        } finally {
            memory.exit(token);
        }
    }

    /** Whether size and alignment are allowed. */
    static boolean plausible(VnicState state, int queue) {
        int at = VnicState.queue(queue);
        int size = state.getInt(at + QueueRegisters.SIZE);
        return size >= AggRegisters.MIN_RING_SIZE
                && size <= AggRegisters.MAX_RING_SIZE
                && Integer.bitCount(size) == 1
                && state.getLong(at + QueueRegisters.DESCRIPTORS) % ALIGNMENT == 0
                && state.getLong(at + QueueRegisters.COMPLETIONS) % ALIGNMENT == 0
                && state.getLong(at + QueueRegisters.INDICES) % ALIGNMENT == 0;
    }

    /** The ring that the queue's registers describe, which {@link #check} found good. */
    static Ring ring(VnicState state, int queue, DeviceLink link) {
        int at = VnicState.queue(queue);
        boolean transmit = queue < AggRegisters.MAX_QUEUE_PAIRS;
        return new Ring(
                link.memory(),
                state.getLong(at + QueueRegisters.DESCRIPTORS),
                transmit ? TransmitDescriptor.BYTES : ReceiveDescriptor.BYTES,
                state.getLong(at + QueueRegisters.COMPLETIONS),
                transmit ? TransmitCompletion.BYTES : ReceiveCompletion.BYTES,
                state.getLong(at + QueueRegisters.INDICES),
                state.getInt(at + QueueRegisters.SIZE));
    }
}
