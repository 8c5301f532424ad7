// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Field;
import dev.backplane.vfiouser.layout.Struct;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * All of a vNIC's resumable state, as one block: the control registers and the queue registers at their offsets in BAR
 * 0, then what the device remembers about each queue. Reset fills it, a dump prints it, saving and restoring copy it.
 *
 * <p>Writers: the client's thread for registers, except {@code state}, {@code error} and {@code error_index} of a queue
 * and the event registers, which loops set atomically; each queue's loop for what it remembers. Scalars are native to
 * little-endian hosts.
 */
final class VnicState {
    /** What the device remembers about a queue; one cache line each, since loops on different threads write them. */
    static final Struct QUEUE = Struct.memory("vnic_queue", "What the device remembers about a queue.")
            .u32("next", DEVICE, "Index of the next descriptor to fetch; all before are completed.")
            .u32("discard", DEVICE, "Status for the rest of a frame that is given up, plus 1; 0 if there is none.")
            .u32("interrupt_due", DEVICE, "1 while an interrupt is held back by moderation.")
            .reservedTo(64)
            .size(64);

    static final int NEXT = QUEUE.offset("next");
    static final int DISCARD = QUEUE.offset("discard");
    static final int INTERRUPT_DUE = QUEUE.offset("interrupt_due");

    /** Number of queues: transmit queues first, then receive queues. */
    static final int QUEUES = 2 * AggRegisters.MAX_QUEUE_PAIRS;

    private static final int REMEMBERED = AggRegisters.QUEUES + QUEUES * QueueRegisters.BYTES;
    static final int BYTES = REMEMBERED + QUEUES * QUEUE.size();

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = INT.varHandle();

    private final MemorySegment block = Arena.ofAuto().allocate(BYTES, 64);

    /** The whole block. */
    MemorySegment block() {
        return block;
    }

    /** Gives all registers their reset values and forgets everything else. */
    void clear() {
        block.fill((byte) 0);
        fill(AggRegisters.LAYOUT, 0);
        for (int q = 0; q < QUEUES; q++) {
            fill(QueueRegisters.LAYOUT, queue(q));
        }
    }

    /** Forgets what a queue was doing, and its error; how the driver has set it up stays. */
    void forgetQueue(int q) {
        block.asSlice(remembered(q), QUEUE.size()).fill((byte) 0);
        setInt(queue(q) + QueueRegisters.STATE, QueueStatus.DISABLED.code());
        setInt(queue(q) + QueueRegisters.ERROR, 0);
        setInt(queue(q) + QueueRegisters.ERROR_INDEX, 0);
        getAndAnd(AggRegisters.QUEUE_ERRORS, ~(1 << q));
    }

    private void fill(Struct layout, int base) {
        for (Field f : layout.fields()) {
            if (f.reset() != 0) {
                set(base + f.offset(), f.type().bytes(), f.reset());
            }
        }
    }

    /** Offset of a queue's register block. */
    static int queue(int q) {
        return AggRegisters.QUEUES + q * QueueRegisters.BYTES;
    }

    /** Offset of what is remembered about a queue. */
    static int remembered(int q) {
        return REMEMBERED + q * QUEUE.size();
    }

    int getInt(int offset) {
        return (int) INTS.getVolatile(block, (long) offset);
    }

    void setInt(int offset, int value) {
        INTS.setVolatile(block, (long) offset, value);
    }

    int getAndOr(int offset, int bits) {
        return (int) INTS.getAndBitwiseOr(block, (long) offset, bits);
    }

    int getAndAnd(int offset, int bits) {
        return (int) INTS.getAndBitwiseAnd(block, (long) offset, bits);
    }

    boolean compareAndSet(int offset, int expected, int value) {
        return INTS.compareAndSet(block, (long) offset, expected, value);
    }

    long getLong(int offset) {
        return block.get(LONG, offset);
    }

    void setLong(int offset, long value) {
        block.set(LONG, offset, value);
    }

    /** Reads a register of {@code width} 4 or 8. */
    long get(int offset, int width) {
        return width == 8 ? getLong(offset) : Integer.toUnsignedLong(getInt(offset));
    }

    /** Writes a register of {@code width} 4 or 8. */
    void set(int offset, int width, long value) {
        if (width == 8) {
            setLong(offset, value);
        } else {
            setInt(offset, (int) value);
        }
    }
}
