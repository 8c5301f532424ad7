// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class DrainLoopTest {
    private Workers workers = new Workers(Workers.Mode.INLINE, 2, 64);

    @AfterEach
    void close() {
        workers.close();
    }

    private void use(Workers.Mode mode) {
        workers.close();
        workers = new Workers(mode, 2, 64);
    }

    private static final class Loop extends DrainLoop {
        private final BooleanSupplier turn;

        Loop(Workers workers, BooleanSupplier turn) {
            super(workers);
            this.turn = turn;
        }

        @Override
        protected boolean turn() {
            return turn.getAsBoolean();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatManyThreadsAnnounceIsDoneByOneAtATimeAndNothingIsForgotten(Workers.Mode mode) throws InterruptedException {
        use(mode);
        int perThread = 50_000;
        ConcurrentLinkedQueue<Integer> work = new ConcurrentLinkedQueue<>();
        AtomicBoolean inside = new AtomicBoolean();
        AtomicInteger overlaps = new AtomicInteger();
        int[] done = {0}; // plain: a turn has to see what the turns before it wrote
        Loop loop = new Loop(workers, () -> {
            if (!inside.compareAndSet(false, true)) {
                overlaps.incrementAndGet();
            }
            int n = 0;
            while (n < 10 && work.poll() != null) {
                n++;
            }
            done[0] += n;
            inside.set(false);
            return n == 10;
        });
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < perThread; i++) {
                    work.add(i);
                    loop.wake();
                }
            });
        }
        for (Thread t : threads) {
            t.join();
        }
        while (!loop.idle()) {
            Thread.onSpinWait();
        }
        assertEquals(0, overlaps.get());
        assertEquals(0, work.size());
        assertEquals(threads.length * perThread, done[0]);
    }

    @Test
    void aLoopRunsOnTheThreadThatWakesIt() {
        List<Thread> on = new ArrayList<>();
        new Loop(workers, () -> {
                    on.add(Thread.currentThread());
                    return false;
                })
                .wake();
        assertEquals(List.of(Thread.currentThread()), on);
    }

    @Test
    void inDebugModeALoopNeverRunsOnTheThreadThatWakesIt() throws InterruptedException {
        use(Workers.Mode.DEBUG);
        assertRunsElsewhere(DrainLoop::wake);
    }

    @Test
    void wakingLaterNeverRunsOnTheThreadThatWakes() throws InterruptedException {
        assertRunsElsewhere(DrainLoop::wakeLater);
    }

    private void assertRunsElsewhere(Consumer<DrainLoop> wake) throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        Thread[] on = new Thread[1];
        wake.accept(new Loop(workers, () -> {
            on[0] = Thread.currentThread();
            ran.countDown();
            return false;
        }));
        assertTrue(ran.await(10, TimeUnit.SECONDS));
        assertNotEquals(Thread.currentThread(), on[0]);
    }

    /** Both on the waking thread and on a worker: no turn runs inside another's. */
    @ParameterizedTest
    @EnumSource
    void aLoopWokenInsideATurnRunsAfterIt(Workers.Mode mode) throws InterruptedException {
        use(mode);
        CountDownLatch ran = new CountDownLatch(1);
        AtomicInteger depth = new AtomicInteger();
        AtomicInteger deepest = new AtomicInteger();
        Loop inner = new Loop(workers, () -> {
            deepest.accumulateAndGet(depth.get(), Math::max);
            ran.countDown();
            return false;
        });
        new Loop(workers, () -> {
                    depth.incrementAndGet();
                    inner.wake();
                    depth.decrementAndGet();
                    return false;
                })
                .wake();
        assertTrue(ran.await(10, TimeUnit.SECONDS));
        if (mode == Workers.Mode.INLINE) {
            assertEquals(0, deepest.get());
        }
    }

    @Test
    void noTurnRunsInsideAnotherOnAWorkerEither() throws InterruptedException {
        CountDownLatch ran = new CountDownLatch(1);
        Thread[] busy = new Thread[1];
        AtomicBoolean nested = new AtomicBoolean();
        Loop inner = new Loop(workers, () -> {
            nested.set(Thread.currentThread().equals(busy[0]));
            ran.countDown();
            return false;
        });
        new Loop(workers, () -> {
                    busy[0] = Thread.currentThread();
                    inner.wake();
                    busy[0] = null;
                    return false;
                })
                .wakeLater();
        assertTrue(ran.await(10, TimeUnit.SECONDS));
        assertFalse(nested.get());
    }

    @Test
    void theWakingThreadIsNotKeptByALoopThatNeverEnds() throws InterruptedException {
        AtomicBoolean end = new AtomicBoolean();
        AtomicInteger turns = new AtomicInteger();
        Loop loop = new Loop(workers, () -> {
            turns.incrementAndGet();
            return !end.get();
        });
        loop.wake(); // comes back, or the time limit ends the test
        assertTrue(workers.counters().get("submitted") > 0);
        int seen = turns.get();
        while (turns.get() <= seen) {
            Thread.onSpinWait(); // a worker goes on with it
        }
        end.set(true);
        while (!loop.idle()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aTurnThatThrowsLeavesTheLoopUsable() {
        AtomicInteger turns = new AtomicInteger();
        Loop loop = new Loop(workers, () -> {
            if (turns.incrementAndGet() == 1) {
                throw new IllegalStateException("on purpose");
            }
            return false;
        });
        loop.wake();
        assertTrue(loop.idle());
        loop.wake();
        assertEquals(2, turns.get());
        assertEquals(1, workers.counters().get("failures"));
    }

    @Test
    void moreLoopsThanDeclaredStillAllRun() throws InterruptedException {
        use(Workers.Mode.DEBUG);
        int n = 1000; // the queue has 64 places
        CountDownLatch all = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            new Loop(workers, () -> {
                        all.countDown();
                        return false;
                    })
                    .wake();
        }
        assertTrue(all.await(30, TimeUnit.SECONDS));
    }
}
