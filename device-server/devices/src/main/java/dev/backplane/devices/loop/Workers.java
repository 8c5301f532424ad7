// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.memory.PromptThread;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that run what {@link DrainLoop}s leave over. A loop is queued at most once at a time, so a queue as large as
 * the number of loops never overflows, and queuing neither allocates nor locks.
 */
public final class Workers implements AutoCloseable {
    /** Where loops run first. */
    public enum Mode {
        /** On the thread that wakes them; workers take what is left. The fast way. */
        INLINE,
        /** Always on workers: with a breakpoint in a loop, registers go on answering. */
        DEBUG
    }

    private static final Logger LOG = LoggerFactory.getLogger(Workers.class);

    private final Mode mode;
    private final Thread[] threads;
    private final AtomicReferenceArray<DrainLoop> queue;
    private final int mask;
    private final AtomicLong head = new AtomicLong();
    private final AtomicLong tail = new AtomicLong();
    private final Semaphore available = new Semaphore(0);
    private final Timers timers;
    private volatile boolean closed;

    private final CounterGroup counters = new CounterGroup("workers");
    private final Counter submitted = counters.counter("submitted", "Loops handed to a worker thread");
    private final Counter failures = counters.counter("failures", "Turns that ended in an unexpected exception");

    /**
     * Starts the threads.
     *
     * @param count number of threads, at least 1
     * @param loops at least the number of loops that will use these workers
     */
    public Workers(Mode mode, int count, int loops) {
        this(mode, count, loops, new Timers());
    }

    /** As above, with timers by a clock of their own; they are closed with the workers. */
    public Workers(Mode mode, int count, int loops, Timers timers) {
        this.timers = timers;
        this.mode = mode;
        int capacity = Integer.highestOneBit(Math.max(loops, 2) * 2 - 1);
        this.queue = new AtomicReferenceArray<>(capacity);
        this.mask = capacity - 1;
        this.threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new PromptThread(this::work, "worker-" + i, 0);
            threads[i].start();
        }
    }

    /** Counters of hand-overs and failures. */
    public CounterGroup counters() {
        return counters;
    }

    /** The timers of all that runs on these workers. */
    public Timers timers() {
        return timers;
    }

    boolean inline() {
        return mode == Mode.INLINE;
    }

    void submit(DrainLoop loop) {
        submitted.increment();
        int at = (int) tail.getAndIncrement() & mask;
        // Full only if there are more loops than the caller said: waiting for a place keeps even that harmless.
        while (!queue.compareAndSet(at, null, loop)) {
            Thread.onSpinWait();
        }
        available.release();
    }

    void failed(DrainLoop loop, Throwable t) {
        failures.increment();
        LOG.error("{} failed; it goes on with its next wake-up", loop, t);
    }

    private void work() {
        while (!closed) {
            available.acquireUninterruptibly();
            if (closed) {
                return;
            }
            int at = (int) head.getAndIncrement() & mask;
            DrainLoop loop;
            // The submitter has taken the place and released the permit of an earlier one, perhaps before it stored.
            while ((loop = queue.getAndSet(at, null)) == null) {
                Thread.onSpinWait();
            }
            Trampoline.run(loop);
        }
    }

    /** Ends the threads after their current turn; loops still queued are not run any more. */
    @Override
    public void close() {
        timers.close();
        closed = true;
        available.release(threads.length);
        boolean interrupted = false;
        for (Thread t : threads) {
            while (t.isAlive()) {
                try {
                    t.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
