// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class TimersTest {
    private static final long MILLI = 1_000_000;
    private static final long FAR = 3_600_000 * MILLI;

    private final Timers timers = new Timers();

    @AfterEach
    void close() {
        timers.close();
    }

    @Test
    void firesOnceForEachTimeArmed() throws InterruptedException {
        Semaphore fired = new Semaphore(0);
        Timers.Timer t = timers.timer(fired::release);
        for (int i = 0; i < 100; i++) {
            t.arm(timers.now() + i % 3 * 100_000L);
            assertTrue(fired.tryAcquire(10, TimeUnit.SECONDS), "round " + i);
            assertFalse(t.isArmed());
        }
        assertEquals(0, fired.availablePermits());
    }

    @Test
    void firesInTheOrderOfDeadlines() throws InterruptedException {
        int n = 200;
        List<Integer> order = new CopyOnWriteArrayList<>();
        CountDownLatch all = new CountDownLatch(n);
        Timers.Timer[] set = new Timers.Timer[n];
        for (int i = 0; i < n; i++) {
            int id = i;
            set[i] = timers.timer(() -> {
                order.add(id);
                all.countDown();
            });
        }
        Random random = new Random(1);
        for (int i : random.ints(0, n).limit(4L * n).toArray()) {
            set[i].arm(timers.now() + FAR + i);
        }
        // The thread is held in an action until all deadlines, which have passed by then, are set.
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        timers.timer(() -> {
                    held.countDown();
                    awaitQuietly(go);
                })
                .arm(timers.now());
        assertTrue(held.await(10, TimeUnit.SECONDS));
        List<Integer> shuffled = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            shuffled.add(i);
        }
        Collections.shuffle(shuffled, random);
        for (int i : shuffled) {
            set[i].arm(i - n);
        }
        go.countDown();
        assertTrue(all.await(10, TimeUnit.SECONDS), () -> "fired: " + order);
        assertEquals(order.stream().sorted().toList(), order);
    }

    @Test
    void neverFiresEarly() throws InterruptedException {
        long[] at = new long[1];
        for (int i = 0; i < 50; i++) {
            CountDownLatch fired = new CountDownLatch(1);
            long due = timers.now() + i * 100_000L;
            timers.timer(() -> {
                        at[0] = timers.now();
                        fired.countDown();
                    })
                    .arm(due);
            assertTrue(fired.await(10, TimeUnit.SECONDS));
            assertTrue(at[0] >= due, () -> "due at " + due + ", fired at " + at[0]);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void anEarlierDeadlineReplacesALaterOneAndTheOtherWayRound() throws InterruptedException {
        Semaphore fired = new Semaphore(0);
        Timers.Timer t = timers.timer(fired::release);
        t.arm(timers.now() + FAR);
        t.arm(timers.now() + MILLI);
        assertTrue(fired.tryAcquire(10, TimeUnit.SECONDS));
        t.arm(timers.now() + 20 * MILLI);
        t.arm(timers.now() + FAR);
        Semaphore other = new Semaphore(0);
        timers.timer(other::release).arm(timers.now() + 60 * MILLI);
        assertTrue(other.tryAcquire(10, TimeUnit.SECONDS));
        assertEquals(0, fired.availablePermits());
        assertTrue(t.isArmed());
    }

    @Test
    void aDisarmedTimerDoesNotFire() throws InterruptedException {
        Semaphore fired = new Semaphore(0);
        Timers.Timer t = timers.timer(fired::release);
        t.arm(timers.now() + 20 * MILLI);
        t.disarm();
        Semaphore other = new Semaphore(0);
        timers.timer(other::release).arm(timers.now() + 60 * MILLI);
        assertTrue(other.tryAcquire(10, TimeUnit.SECONDS));
        assertEquals(0, fired.availablePermits());
    }

    @Test
    void anActionThatThrowsHarmsNoOther() throws InterruptedException {
        Semaphore fired = new Semaphore(0);
        timers.timer(() -> {
                    throw new IllegalStateException("on purpose");
                })
                .arm(timers.now());
        timers.timer(fired::release).arm(timers.now() + MILLI);
        assertTrue(fired.tryAcquire(10, TimeUnit.SECONDS));
    }

    @Test
    void manyThreadsThatArmTheSameTimersLoseNoWakeUp() throws InterruptedException {
        int count = 8;
        AtomicInteger fired = new AtomicInteger();
        Timers.Timer[] set = new Timers.Timer[count];
        for (int i = 0; i < count; i++) {
            set[i] = timers.timer(fired::incrementAndGet);
        }
        Thread[] threads = new Thread[4];
        for (int n = 0; n < threads.length; n++) {
            Random random = new Random(n);
            threads[n] = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 20_000; i++) {
                    set[random.nextInt(count)].arm(timers.now() + random.nextInt(50_000));
                }
            });
        }
        for (Thread t : threads) {
            t.join();
        }
        // Only firing ends an arming here: if a wake-up were lost, a timer would stay armed for ever.
        for (Timers.Timer t : set) {
            while (t.isArmed()) {
                Thread.onSpinWait();
            }
        }
    }
}
