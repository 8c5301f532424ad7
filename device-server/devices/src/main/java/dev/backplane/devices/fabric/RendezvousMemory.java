// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.memory.RawAccess;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Rendezvous memory (US 8,868,672; the shared memory region of US 9,137,173): where frames are between the move in and
 * the move out. One segment holds all of it:
 *
 * <pre>
 *   cells               frames; a frame takes as many as it needs, linked, at any places
 *   cell table          for each cell: the link to the next cell of its frame, and the frame's reference count
 *   second descriptors  64 bytes each ({@link SecondDescriptor})
 *   output queue heads  one for each memory output queue ({@link OutputQueue})
 *   free rings          two of cells and two of second descriptors ({@link SlotPool})
 * </pre>
 *
 * <p>Cells and descriptors are numbered from 1, so that a zeroed link is no link. Any thread.
 */
public final class RendezvousMemory {
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final VarHandle INTS = INT.varHandle();
    static final VarHandle LONGS = LONG.varHandle();

    /** Bytes of an entry of the cell table: link and reference count. */
    private static final int CELL_ENTRY = 8;

    private static final int REFERENCES = 4;
    private static final int PAGE = 4096;

    private final MemorySegment memory;
    /** Offset of the first cell in {@link #segment}. */
    private final long base;

    private final int cellBytes;
    private final int cellShift;
    private final long cellTable;
    private final long descriptors;
    private final long queueHeads;
    private final int maxQueues;
    private final SlotPool cells;
    private final SlotPool seconds;
    private final AtomicInteger queues = new AtomicInteger();
    private final AtomicInteger fewestFree;

    /**
     * Lays out {@code memory}, which has to be zero, aligned to 4096 bytes and accessible from any thread. It must not be
     * unmapped before all loops of the fabric have ended.
     *
     * @param cellBytes a power of two
     * @param maxQueues number of memory output queues for which there has to be room
     */
    public RendezvousMemory(MemorySegment memory, int cellBytes, int maxQueues) {
        if ((memory.address() & (PAGE - 1)) != 0 || !memory.isNative()) {
            throw new IllegalArgumentException("rendezvous memory has to begin at a page: " + memory);
        }
        this.memory = memory;
        this.base = RawAccess.base(memory);
        this.cellBytes = cellBytes;
        this.cellShift = Integer.numberOfTrailingZeros(cellBytes);
        this.maxQueues = maxQueues;
        int n = cellsThatFit(memory.byteSize(), cellBytes, maxQueues);
        if (n < 1) {
            throw new IllegalArgumentException("rendezvous memory of " + memory.byteSize() + " bytes is too small for "
                    + maxQueues + " memory output queues and a cell of " + cellBytes + " bytes");
        }
        this.cellTable = align(base + (long) n * cellBytes);
        this.descriptors = align(cellTable + (long) CELL_ENTRY * n);
        this.queueHeads = align(descriptors + (long) SecondDescriptor.BYTES * descriptorsFor(n));
        long cellRing = align(queueHeads + (long) OutputQueue.HEAD_BYTES * maxQueues);
        long descriptorRing = align(cellRing + SlotPool.ringBytes(n));
        this.cells = new SlotPool(memory, cellRing, n);
        this.seconds = new SlotPool(memory, descriptorRing, descriptorsFor(n));
        this.fewestFree = new AtomicInteger(n);
    }

    /** A quarter more descriptors than cells: a frame for one port needs one, a flooded one needs one for each port. */
    private static int descriptorsFor(int cells) {
        return cells + cells / 4 + 64;
    }

    private static int cellsThatFit(long bytes, int cellBytes, int maxQueues) {
        long fixed = (long) OutputQueue.HEAD_BYTES * maxQueues + 6L * PAGE;
        int low = 0;
        int high = (int) Math.min(bytes / cellBytes, 1 << 28);
        while (low < high) {
            int n = low + (high - low + 1) / 2;
            long need = fixed
                    + (long) n * (cellBytes + CELL_ENTRY)
                    + (long) SecondDescriptor.BYTES * descriptorsFor(n)
                    + SlotPool.ringBytes(n)
                    + SlotPool.ringBytes(descriptorsFor(n));
            if (need <= bytes) {
                low = n;
            } else {
                high = n - 1;
            }
        }
        return low;
    }

    private static long align(long offset) {
        return (offset + PAGE - 1) & -PAGE;
    }

    /** The segment through which everything here is accessed: a cell at {@link #cellOffset}, never by a guest's number. */
    public MemorySegment segment() {
        return RawAccess.view(memory);
    }

    /** Bytes in all. */
    public long bytes() {
        return memory.byteSize();
    }

    /** Bytes of a cell. */
    public int cellBytes() {
        return cellBytes;
    }

    /** Number of cells. */
    public int capacity() {
        return cells.slots();
    }

    /** Cells that hold frames, or are about to. */
    public int allocated() {
        return cells.slots() - cells.available();
    }

    /** Most cells that were ever allocated at a time. */
    public int highWater() {
        return cells.slots() - fewestFree.getOpaque();
    }

    /** Second descriptors that are queued, or are about to be; each output queue keeps one. */
    public int descriptorsAllocated() {
        return seconds.slots() - seconds.available() - queues.get();
    }

    /** Cells for a frame of that many bytes. */
    public int cellsFor(int bytes) {
        return (bytes + cellBytes - 1) >>> cellShift;
    }

    /** Offset of a cell in the segment. */
    public long cellOffset(int cell) {
        return base + ((long) (cell - 1) << cellShift);
    }

    /** The cell after {@code cell} in its frame. */
    public int nextCell(int cell) {
        return segment().get(INT, entry(cell));
    }

    void linkCell(int cell, int next) {
        segment().set(INT, entry(cell), next);
    }

    /** Sets the number of holders of a frame that nobody else knows yet. */
    void setReferences(int cell, int references) {
        segment().set(INT, entry(cell) + REFERENCES, references);
    }

    /**
     * Gives up {@code n} holds on a frame.
     *
     * @return whether nobody holds it any more: then the caller frees its cells
     */
    boolean dropReferences(int cell, int n) {
        long at = entry(cell) + REFERENCES;
        // The one holder left cannot race with anybody: the count is not raised once the frame is queued.
        if ((int) INTS.getAcquire(segment(), at) == n) {
            return true;
        }
        return (int) INTS.getAndAdd(segment(), at, -n) == n;
    }

    /** Offset of a second descriptor in the segment. */
    long descriptorOffset(int descriptor) {
        return descriptors + (long) (descriptor - 1) * SecondDescriptor.BYTES;
    }

    private long entry(int cell) {
        return cellTable + (long) (cell - 1) * CELL_ENTRY;
    }

    SlotPool cells() {
        return cells;
    }

    SlotPool descriptors() {
        return seconds;
    }

    /** Notes how few cells are left, for {@link #highWater}. */
    void noteTaken() {
        int free = cells.available();
        int seen;
        while (free < (seen = fewestFree.get())) {
            if (fewestFree.compareAndSet(seen, free)) {
                return;
            }
        }
    }

    /** Makes one more memory output queue; queues are never given back. */
    OutputQueue newQueue() {
        int n = queues.getAndIncrement();
        int[] first = new int[1];
        if (n >= maxQueues || !seconds.take(1, first, 0)) {
            queues.getAndDecrement();
            throw new IllegalStateException("rendezvous memory has room for " + maxQueues + " memory output queues");
        }
        return new OutputQueue(this, queueHeads + (long) n * OutputQueue.HEAD_BYTES, first[0]);
    }
}
