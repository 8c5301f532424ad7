// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Frames on their way between a port's loop and its far side: a ring of bytes with one producer and one consumer, without
 * locks. Each frame is in one piece, behind a header:
 *
 * <pre>
 *    0  u32  bytes of this record, or of what is skipped at the end of the ring (then negative)
 *    4  u32  bytes of the frame
 *    8  6 x u16  offload fields, as in {@link Frame}: flags, start and offset of the checksum, kind and size of
 *            segments, length of headers
 *   20  12 bytes for what a far side puts in front of a frame
 *   32  the frame
 * </pre>
 *
 * <p>The producer: {@link #reserve}, fill, {@link #commit}, and after some frames {@link #publish}. The consumer: {@link
 * #first}, read, {@link #remove}, and after some frames {@link #release}.
 *
 * <p>Two races, of the same form. Who finds the ring empty says so and looks again, who publishes looks afterwards
 * whether anybody said so: so the consumer sees the frame, or the producer sees that it sleeps. And the other way round
 * for a full ring.
 */
public final class FrameRing {
    /** Bytes from the start of a record to its frame. */
    public static final int HEADER = 32;
    /** What {@link #reserve} and {@link #first} give when there is nothing. */
    public static final long NONE = -1;

    private static final int LENGTH = 4;
    private static final int FLAGS = 8;
    private static final int CSUM_START = 10;
    private static final int CSUM_OFFSET = 12;
    private static final int GSO_TYPE = 14;
    private static final int GSO_SIZE = 16;
    private static final int HEADER_LENGTH = 18;
    private static final int ALIGNMENT = 16;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment memory;
    private final long bytes;

    private final AtomicLong head = new AtomicLong();
    private final AtomicInteger consumerSleeps = new AtomicInteger();
    private final AtomicInteger producerWaits = new AtomicInteger();
    private final AtomicLong tail = new AtomicLong();

    // The producer's own.
    private long written;
    private long reserved;
    private long reservedBytes;

    // The consumer's own.
    private long read;

    /** A ring of {@code bytes} bytes, a power of two with room for four of the largest frames. */
    public FrameRing(int bytes) {
        if (Integer.bitCount(bytes) != 1 || bytes < 4 * recordBytes(FabricConfig.MAX_FRAME)) {
            throw new IllegalArgumentException("a ring of " + bytes + " bytes");
        }
        this.bytes = bytes;
        this.memory = Arena.ofAuto().allocate(bytes, 64);
    }

    private static long recordBytes(int frameBytes) {
        return ((long) HEADER + frameBytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** The memory that records are in. */
    public MemorySegment memory() {
        return memory;
    }

    // ---- producer ----

    /**
     * Finds a place for a frame of {@code frameBytes}, at most {@link FabricConfig#MAX_FRAME}; its offload fields are 0.
     *
     * @return where its record begins, or {@link #NONE}
     */
    public long reserve(int frameBytes) {
        long need = recordBytes(frameBytes);
        long at = written & (bytes - 1);
        long toEnd = bytes - at;
        long skip = toEnd < need ? toEnd : 0;
        if (written + skip + need - tail.getAcquire() > bytes) {
            return NONE;
        }
        if (skip != 0) {
            memory.set(INT, at, (int) -skip);
            at = 0;
        }
        reserved = written + skip;
        reservedBytes = need;
        memory.set(INT, at, (int) need);
        memory.set(INT, at + LENGTH, frameBytes);
        memory.set(LONG, at + FLAGS, 0);
        memory.set(INT, at + GSO_SIZE, 0);
        return at;
    }

    /** The frame that was reserved last is complete. */
    public void commit() {
        written = reserved + reservedBytes;
    }

    /**
     * Shows the consumer all frames that are committed.
     *
     * @return whether the consumer sleeps, and has to be woken
     */
    public boolean publish() {
        head.set(written); // volatile: before the look at whether the consumer sleeps, partner of sleep()
        return consumerSleeps.get() != 0 && consumerSleeps.compareAndSet(1, 0);
    }

    /**
     * Announces that the producer waits for room for a frame of {@code frameBytes}.
     *
     * @return false when there is room by now, and the producer does not wait
     */
    public boolean awaitRoom(int frameBytes) {
        producerWaits.set(1); // volatile: before the second look, partner of release()
        if (written + 2 * recordBytes(frameBytes) - tail.get() <= bytes) {
            producerWaits.set(0);
            return false;
        }
        return true;
    }

    // ---- consumer ----

    /** Where the record of the first frame begins, or {@link #NONE}. */
    public long first() {
        long end = head.getAcquire();
        while (read != end) {
            long at = read & (bytes - 1);
            int size = memory.get(INT, at);
            if (size >= 0) {
                return at;
            }
            read -= size;
        }
        return NONE;
    }

    /** The first frame is done with. */
    public void remove() {
        read += memory.get(INT, read & (bytes - 1));
    }

    /**
     * Gives the room of removed frames back.
     *
     * @return whether the producer waits and has to be woken
     */
    public boolean release() {
        tail.set(read); // volatile: before the look at whether the producer waits, partner of awaitRoom()
        return producerWaits.get() != 0 && head.getAcquire() - read <= bytes / 2 && producerWaits.compareAndSet(1, 0);
    }

    /**
     * Announces that the consumer has found no frame and sleeps.
     *
     * @return false when there is one by now, and the consumer does not sleep
     */
    public boolean sleep() {
        consumerSleeps.set(1); // volatile: before the second look, partner of publish()
        if (first() != NONE) {
            consumerSleeps.set(0);
            return false;
        }
        return true;
    }

    /** Removes all frames that are there, without releasing; returns how many. */
    public int discard() {
        int n = 0;
        while (first() != NONE) {
            remove();
            n++;
        }
        return n;
    }

    // ---- fields of a record ----

    /** Bytes of the frame. */
    public int length(long at) {
        return memory.get(INT, at + LENGTH);
    }

    /** {@link Frame#flags}. */
    public int flags(long at) {
        return memory.get(SHORT, at + FLAGS) & 0xffff;
    }

    /** {@link Frame#csumStart}. */
    public int csumStart(long at) {
        return memory.get(SHORT, at + CSUM_START) & 0xffff;
    }

    /** {@link Frame#csumOffset}. */
    public int csumOffset(long at) {
        return memory.get(SHORT, at + CSUM_OFFSET) & 0xffff;
    }

    /** {@link Frame#gsoType}. */
    public int gsoType(long at) {
        return memory.get(SHORT, at + GSO_TYPE) & 0xffff;
    }

    /** {@link Frame#gsoSize}. */
    public int gsoSize(long at) {
        return memory.get(SHORT, at + GSO_SIZE) & 0xffff;
    }

    /** {@link Frame#headerLength}. */
    public int headerLength(long at) {
        return memory.get(SHORT, at + HEADER_LENGTH) & 0xffff;
    }

    /** Sets what is known of the frame's checksum: {@link Frame#CHECKSUM_VALID}, or partial with its place. */
    public void setChecksum(long at, int flags, int start, int offset) {
        memory.set(SHORT, at + FLAGS, (short) flags);
        memory.set(SHORT, at + CSUM_START, (short) start);
        memory.set(SHORT, at + CSUM_OFFSET, (short) offset);
    }

    /** Sets how the frame is to be segmented. */
    public void setSegmentation(long at, int type, int size, int headers) {
        memory.set(SHORT, at + GSO_TYPE, (short) type);
        memory.set(SHORT, at + GSO_SIZE, (short) size);
        memory.set(SHORT, at + HEADER_LENGTH, (short) headers);
    }
}
