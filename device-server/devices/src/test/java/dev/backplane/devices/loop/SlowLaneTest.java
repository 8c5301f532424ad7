// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loops that may wait for their guest hold up nobody who does not. */
@Timeout(60)
final class SlowLaneTest {
    private final Workers workers = new Workers(Workers.Mode.INLINE, 1, 16);

    @AfterEach
    void end() {
        workers.close();
    }

    private final class Loop extends DrainLoop {
        private final Runnable action;
        private final AtomicInteger work = new AtomicInteger();
        private final AtomicInteger done = new AtomicInteger();
        private volatile String thread;

        Loop(Runnable action) {
            super(workers);
            this.action = action;
        }

        void add() {
            work.incrementAndGet();
            wake();
        }

        @Override
        protected boolean turn() {
            thread = Thread.currentThread().getName();
            if (work.get() > done.get()) {
                action.run();
                done.incrementAndGet();
            }
            return work.get() > done.get();
        }

        void await(int n) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (done.get() < n) {
                assertTrue(System.nanoTime() < end, () -> done + " of " + n + " turns");
                Thread.onSpinWait();
            }
        }
    }

    private static void hold(CountDownLatch until) {
        try {
            until.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theLanesLoopWaitsAndAllOthersGoOn() {
        CountDownLatch answer = new CountDownLatch(1);
        Loop other = new Loop(() -> {});
        Loop slow = new Loop(() -> {
            other.add(); // run by a worker, not by this thread when it is free again
            hold(answer);
        });
        slow.runOn(new SlowLane("lane"));
        slow.add();
        other.await(1);
        assertEquals("worker-0", other.thread);
        assertEquals(0, slow.done.get());
        other.add(); // by this thread
        assertEquals(2, other.done.get());
        answer.countDown();
        slow.await(1);
        assertEquals("lane", slow.thread);
    }

    @Test
    void twoLoopsOfALaneTakeTurns() {
        SlowLane lane = new SlowLane("lane");
        Loop first = new Loop(() -> {});
        Loop second = new Loop(() -> {});
        first.runOn(lane);
        second.runOn(lane);
        for (int i = 0; i < 1000; i++) {
            first.add();
            second.add();
        }
        first.await(1000);
        second.await(1000);
    }

    @Test
    void aLoopThatMovesLosesNothing() {
        Loop loop = new Loop(() -> {});
        SlowLane lane = new SlowLane("lane");
        for (int i = 0; i < 2000; i++) {
            loop.runOn(i % 3 == 0 ? lane : null);
            loop.add();
        }
        loop.await(2000);
        loop.runOn(null);
        loop.add();
        loop.await(2001);
    }

    @Test
    void aLoopOfALaneIsNotTakenForASingleThing() {
        Loop loop = new Loop(() -> {});
        assertTrue(loop.tryEnter());
        loop.leave();
        loop.runOn(new SlowLane("lane"));
        assertFalse(loop.tryEnter());
    }
}
