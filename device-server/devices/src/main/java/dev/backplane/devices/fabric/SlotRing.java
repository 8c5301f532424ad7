// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Free slots in a ring of their numbers, itself in rendezvous memory: first in, first out. Taking from its head and giving
 * back at its tail is O(1) for each slot. The ring has room for all slots there are, so that it is never full.
 *
 * <p>Any thread, no lock: {@code available} is lowered first, so that whoever lowered it by n owns n entries; it is
 * raised only after the entries are stored. Then head and tail move by one atomic add for a whole batch. Between a
 * neighbour's add and its store of an entry, a few instructions, one may have to wait for that entry.
 */
final class SlotRing {
    private static final int EMPTY = 0;

    private final MemorySegment memory;
    private final long ring;
    private final int mask;
    private final AtomicInteger available = new AtomicInteger();
    private final AtomicLong head = new AtomicLong();
    private final AtomicLong tail = new AtomicLong();

    /** A ring at {@code ring} for the slots 1 to {@code slots}, of which the first {@code free} are in it. */
    SlotRing(MemorySegment memory, long ring, int slots, int free) {
        this.memory = memory;
        this.ring = ring;
        this.mask = entries(slots) - 1;
        for (int i = 0; i <= mask; i++) {
            memory.set(RendezvousMemory.INT, ring + 4L * i, i < free ? i + 1 : EMPTY);
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
        return 4L * entries(slots);
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
            int slot;
            while ((slot = (int) RendezvousMemory.INTS.getAcquire(memory, entry)) == EMPTY) {
                Thread.onSpinWait();
            }
            RendezvousMemory.INTS.setRelease(memory, entry, EMPTY);
            out[at + i] = slot;
        }
        return true;
    }

    /** Gives back {@code n} slots of {@code from}, from index {@code at} on. */
    void give(int n, int[] from, int at) {
        long to = tail.getAndAdd(n);
        for (int i = 0; i < n; i++) {
            long entry = entry(to + i);
            while ((int) RendezvousMemory.INTS.getAcquire(memory, entry) != EMPTY) {
                Thread.onSpinWait();
            }
            RendezvousMemory.INTS.setRelease(memory, entry, from[at + i]);
        }
        available.getAndAdd(n);
    }

    private long entry(long position) {
        return ring + 4L * ((int) position & mask);
    }
}
