// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Workers;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiting for rendezvous memory: first come, first served, whatever the frames' sizes; nothing is lost or forgotten. */
@Timeout(60)
class WaitQueueTest {
    private static final int GRANT = 33;

    private final Workers workers = new Workers(Workers.Mode.INLINE, 2, 256);
    private final RendezvousMemory memory = new RendezvousMemory(Arena.ofAuto().allocate(1 << 20, 4096), 2048, 1);
    private final MemoryWaitQueue queue = new MemoryWaitQueue(workers, memory, GRANT);

    @AfterEach
    void close() {
        assertEquals(0, workers.counters().get("failures"));
        workers.close();
    }

    /** A sender that waits for cells again and again, and notes what it gets. */
    private final class Sender extends DrainLoop {
        final int need;
        final List<Integer> order;
        final Places places = new Places(memory);
        final AtomicInteger grants = new AtomicInteger();
        final AtomicInteger cells = new AtomicInteger();
        Waiter waiter = new Waiter(this, memory);
        int rounds;
        final int id;

        Sender(int id, int need, int rounds, List<Integer> order) {
            super(workers);
            this.id = id;
            this.need = need;
            this.rounds = rounds;
            this.order = order;
        }

        void enter() {
            waiter.need = need;
            waiter.state.set(Waiter.State.WAITING);
            queue.enter(waiter);
        }

        @Override
        protected boolean turn() {
            if (waiter.state.get() != Waiter.State.GRANTED) {
                return false;
            }
            int[] held = new int[1];
            places.takeOver(waiter.places);
            while (places.has(1)) {
                int cell = places.chain(1);
                place(cell);
                held[0]++;
            }
            places.giveBack(); // the descriptors
            assertTrue(held[0] >= need, "at least what was needed");
            cells.addAndGet(held[0]);
            grants.incrementAndGet();
            order.add(id);
            waiter.state.set(Waiter.State.IDLE);
            if (--rounds > 0) {
                enter();
            }
            return false;
        }
    }

    private final List<Integer> held = new ArrayList<>();

    private void place(int cell) {
        held.add(cell);
    }

    /** Frees the oldest cells that are held. */
    private void free(int n) {
        int[] cells = new int[n];
        for (int i = 0; i < n; i++) {
            cells[i] = held.removeFirst();
        }
        memory.cells().give(n, cells, 0);
        queue.released();
    }

    private void fill() {
        int all = memory.cells().available();
        int[] cells = new int[all];
        assertTrue(memory.cells().take(all, cells, 0));
        for (int c : cells) {
            held.add(c);
        }
    }

    @Test
    void sendersAreServedInTurnAndAlike() {
        fill();
        List<Integer> order = new ArrayList<>();
        List<Sender> senders = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Sender s = new Sender(i, i == 5 ? GRANT : 1 + i, 20, order);
            senders.add(s);
            s.enter();
        }
        Random random = new Random(1);
        while (order.size() < 120) {
            free(Math.min(held.size(), 1 + random.nextInt(50)));
        }
        for (int i = 0; i < order.size(); i++) {
            assertEquals(i % 6, order.get(i), () -> "one after the other: " + order);
        }
        for (Sender s : senders) {
            assertEquals(20, s.grants.get());
            assertTrue(s.cells.get() <= 20 * GRANT);
        }
        assertTrue(!queue.occupied());
    }

    @Test
    void largeFrameIsNotOvertakenBySmallOnes() {
        fill();
        List<Integer> order = new ArrayList<>();
        new Sender(0, GRANT, 1, order).enter();
        for (int i = 1; i < 5; i++) {
            new Sender(i, 1, 1, order).enter();
        }
        for (int i = 0; i < GRANT - 1; i++) {
            free(1);
            assertEquals(List.of(), order, "the first needs more, the others wait behind it");
        }
        free(1);
        assertEquals(List.of(0), order);
        free(1);
        assertEquals(List.of(0, 1), order);
    }

    @Test
    void whoGivesUpHoldsUpNobody() {
        fill();
        List<Integer> order = new ArrayList<>();
        Sender first = new Sender(0, GRANT, 1, order);
        first.enter();
        new Sender(1, 1, 1, order).enter();
        assertTrue(first.waiter.state.compareAndSet(Waiter.State.WAITING, Waiter.State.CANCELLED));
        free(1);
        assertEquals(List.of(1), order);
        assertEquals(held.size(), memory.allocated());
    }
}
