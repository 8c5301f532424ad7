// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.memory.RawAccess;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Free slots in a ring of their numbers, itself in rendezvous memory: first in, first out. Taking from its head and giving
 * back at its tail is O(1) for each slot. The ring has room for all slots there are, so that it is never full.
 *
 * <p>Any thread, no lock: {@code available} is lowered first, so that whoever lowered it by n owns n entries; it is
 * raised only after the entries are stored. Then head and tail move by one atomic add for a whole batch. Between a
 * neighbour's add and its access to an entry, a few instructions, one may have to wait for that entry.
 *
 * <p>The race: a thread loses its processor between its add and its access, and meanwhile others go once around the ring
 * and meet it at the same entry. So an entry has the lap that it is for beside the slot, and each access waits for its
 * own: first the giver of a lap, then its taker, who leaves the entry to the giver of the next.
 */
final class SlotRing {
    private static final int EMPTY = 0;
    /** Bytes of an entry: the slot, 0 for none, in the lower half, the lap in the upper. */
    private static final int ENTRY = 8;

    private static final int SPINS = 200;

    private final MemorySegment memory;
    private final long ring;
    private final int mask;
    private final int lapShift;
    private final AtomicInteger available = new AtomicInteger();
    private final AtomicLong head = new AtomicLong();
    private final AtomicLong tail = new AtomicLong();

    /**
     * A ring at {@code ring}, where memory is zero, for the slots 1 to {@code slots}, of which the first {@code free} are in
     * it.
     */
    SlotRing(MemorySegment memory, long ring, int slots, int free) {
        this.memory = memory;
        this.ring = ring;
        this.mask = entries(slots) - 1;
        this.lapShift = Integer.numberOfTrailingZeros(mask + 1);
        // All others are zero, that is empty, already. In pieces: a server's start has no time for so many single
        // stores.
        long[] piece = new long[Math.min(free, 4096)];
        for (int done = 0; done < free; done += piece.length) {
            int n = Math.min(piece.length, free - done);
            for (int i = 0; i < n; i++) {
                piece[i] = 1L + done + i;
            }
            MemorySegment.copy(piece, 0, RawAccess.view(memory), RendezvousMemory.LONG, ring + (long) ENTRY * done, n);
        }
        tail.set(free);
        available.set(free);
    }

    /** Entries of the ring for that many slots: a power of two. */
    private static int entries(int slots) {
        return Integer.highestOneBit(Math.max(1, slots) * 2 - 1);
    }

    /** Bytes of the ring for that many slots. */
    static long bytes(int slots) {
        return (long) ENTRY * entries(slots);
    }

    /** Slots in the ring, as of now. */
    int available() {
        return available.get();
    }

    /** Takes {@code n} slots into {@code out} from index {@code at} on, or none: then false. */
    boolean take(int n, int[] out, int at) {
        int free;
        do {
            free = available.get();
            if (free < n) {
                return false;
            }
        } while (!available.compareAndSet(free, free - n));
        long from = head.getAndAdd(n);
        for (int i = 0; i < n; i++) {
            long entry = entry(from + i);
            int lap = lap(from + i);
            long value = (long) RendezvousMemory.LONGS.getAcquire(RawAccess.view(memory), entry);
            for (int spins = 0; (int) value == EMPTY || (int) (value >>> 32) != lap; spins++) {
                pause(spins);
                value = (long) RendezvousMemory.LONGS.getAcquire(RawAccess.view(memory), entry);
            }
            RendezvousMemory.LONGS.setRelease(RawAccess.view(memory), entry, (long) (lap + 1) << 32);
            out[at + i] = (int) value;
        }
        return true;
    }

    /** Gives back {@code n} slots of {@code from}, from index {@code at} on. */
    void give(int n, int[] from, int at) {
        long to = tail.getAndAdd(n);
        for (int i = 0; i < n; i++) {
            long entry = entry(to + i);
            long empty = (long) lap(to + i) << 32;
            for (int spins = 0;
                    (long) RendezvousMemory.LONGS.getAcquire(RawAccess.view(memory), entry) != empty;
                    spins++) {
                pause(spins);
            }
            RendezvousMemory.LONGS.setRelease(RawAccess.view(memory), entry, empty | from[at + i]);
        }
        available.getAndAdd(n);
    }

    /** A neighbour that takes longer than a few instructions has lost its processor: it may have this one. */
    @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it
    private static void pause(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    private int lap(long position) {
        return (int) (position >>> lapShift);
    }

    private long entry(long position) {
        return ring + (long) ENTRY * ((int) position & mask);
    }
}
