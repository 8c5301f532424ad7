// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.memory.RawAccess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Free slots: each in one hand at a time, all to be had, few of them hot, and use that rotates through all. */
@Timeout(120)
class SlotPoolTest {
    private static final int SLOTS = 4000;

    private final MemorySegment rings = Arena.ofAuto().allocate(SlotPool.ringBytes(SLOTS), 64);
    private final SlotPool pool = new SlotPool(rings, RawAccess.base(rings), SLOTS);

    @Test
    void allSlotsCanBeTakenWhereverTheyAre() {
        int[] all = new int[SLOTS];
        for (int round = 0; round < 50; round++) {
            assertTrue(pool.take(SLOTS, all, 0), "they are partly hot, partly not");
            assertFalse(pool.take(1, new int[1], 0));
            assertEquals(0, pool.available());
            BitSet seen = new BitSet();
            Arrays.stream(all).forEach(seen::set);
            assertEquals(SLOTS, seen.cardinality());
            assertFalse(seen.get(0));
            for (int at = 0; at < SLOTS; at += 40) {
                pool.give(40, all, at);
            }
            assertEquals(SLOTS, pool.available());
        }
    }

    @Test
    void useIsHotAndRotatesThroughAll() {
        int[] some = new int[64];
        int[] uses = new int[SLOTS + 1];
        BitSet lately = new BitSet();
        int rounds = 0;
        for (BitSet seen = new BitSet(); seen.cardinality() < SLOTS; rounds++) {
            assertTrue(rounds < 100_000, () -> "never used: " + (SLOTS - seen.cardinality()));
            assertTrue(pool.take(64, some, 0));
            for (int slot : some) {
                seen.set(slot);
                uses[slot]++;
                if (rounds < 100) {
                    lately.set(slot);
                }
            }
            pool.give(64, some, 0);
        }
        assertTrue(lately.cardinality() <= SlotPool.HOT, () -> "in 100 batches: " + lately.cardinality());
        int most = Arrays.stream(uses).max().orElseThrow();
        int mean = rounds * 64 / SLOTS;
        for (int i = 0; i < 4 * rounds; i++) {
            assertTrue(pool.take(64, some, 0));
            for (int slot : some) {
                uses[slot]++;
            }
            pool.give(64, some, 0);
        }
        int all = 5 * rounds * 64 / SLOTS;
        int latest = Arrays.stream(uses).max().orElseThrow();
        assertTrue(latest < 4 * all, () -> "most uses of one slot " + latest + ", on average " + all);
        assertTrue(most >= mean);
    }

    @Test
    void noSlotIsInTwoHands() throws InterruptedException {
        AtomicIntegerArray holders = new AtomicIntegerArray(SLOTS + 1);
        Thread[] threads = new Thread[3];
        boolean[] ok = {true};
        for (int t = 0; t < threads.length; t++) {
            Random random = new Random(t);
            threads[t] = Thread.ofPlatform().start(() -> {
                int[] mine = new int[1200];
                for (int round = 0; round < 5000; round++) {
                    int n = 1 + random.nextInt(random.nextInt(50) == 0 ? 1200 : 80);
                    if (!pool.take(n, mine, 0)) {
                        continue;
                    }
                    for (int i = 0; i < n; i++) {
                        if (holders.getAndIncrement(mine[i]) != 0) {
                            ok[0] = false;
                        }
                    }
                    for (int i = 0; i < n; i++) {
                        holders.getAndDecrement(mine[i]);
                    }
                    pool.give(n, mine, 0);
                }
            });
        }
        for (Thread t : threads) {
            t.join();
        }
        assertTrue(ok[0]);
        assertEquals(SLOTS, pool.available());
    }
}
