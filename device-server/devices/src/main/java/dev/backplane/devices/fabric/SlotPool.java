// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.memory.RawAccess;
import java.lang.foreign.MemorySegment;

/**
 * The free slots of one kind in rendezvous memory: cells, or second descriptors. What was given back lately is used again
 * first, as long as there are no more than {@link #HOT} of such, because it is still in the processor's caches. Its use
 * rotates nevertheless (wear levelling, US 9,137,173): among the hot slots, first in, first out; and one batch in {@link
 * #COOLING} that is given back goes to the end of all others, in whose place those come that have been unused for longest.
 * So each slot has its turn, and none is used more than its share for long.
 *
 * <p>Any thread, no lock.
 */
final class SlotPool {
    /** Most slots that are used again first: cells of 2 KiB make a megabyte of them. */
    static final int HOT = 512;
    /** Of so many batches that are given back one is exchanged. */
    static final int COOLING = 32;

    private final SlotRing hot;
    private final SlotRing cold;
    private final int slots;

    /** Batches given back; a lost count does no harm. */
    private int given;

    /** A pool of the slots 1 to {@code slots}, all free, with its rings at {@code rings} of the memory's {@link RawAccess#view}. */
    SlotPool(MemorySegment memory, long rings, int slots) {
        this.slots = slots;
        this.cold = new SlotRing(memory, rings, slots, slots);
        this.hot = new SlotRing(memory, rings + SlotRing.bytes(slots), slots, 0);
    }

    /** Bytes of the rings for that many slots. */
    static long ringBytes(int slots) {
        return 2 * SlotRing.bytes(slots);
    }

    int slots() {
        return slots;
    }

    /** Free slots, as of now. */
    int available() {
        return hot.available() + cold.available();
    }

    /** Takes {@code n} slots into {@code out} from index {@code at} on, or none: then false. */
    boolean take(int n, int[] out, int at) {
        if (hot.take(n, out, at) || cold.take(n, out, at)) {
            return true;
        }
        // Neither has them all. What is got of one goes back if the other has too few.
        int part = Math.min(n, hot.available());
        if (!hot.take(part, out, at)) {
            return false;
        }
        if (cold.take(n - part, out, at + part)) {
            return true;
        }
        hot.give(part, out, at);
        return false;
    }

    /** Gives back {@code n} slots of {@code from}, from index {@code at} on. */
    void give(int n, int[] from, int at) {
        boolean cool = ++given % COOLING == 0;
        if (cool || hot.available() >= HOT) {
            cold.give(n, from, at);
        } else {
            hot.give(n, from, at);
        }
    }
}
