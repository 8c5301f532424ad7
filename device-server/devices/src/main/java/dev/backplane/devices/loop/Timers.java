// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wake-ups at a later time: one thread for all, asleep until the earliest deadline. Arming neither locks nor allocates,
 * so a data path may do it once per turn. A timer's action is short, such as {@link DrainLoop#wakeLater}.
 *
 * <p>Two races. <b>Arming while the thread takes the list</b>: {@link Timer#arm} stores the deadline, then lists the
 * timer unless it is listed; the thread unlists it, then reads the deadline: so the new deadline is read, or the timer
 * is listed anew. <b>Arming while the thread falls asleep</b>: arming lists, then reads {@code nextWake}; the thread
 * stores {@code nextWake}, then looks at the list: so the thread is woken, or finds the timer. All four are volatile.
 */
public final class Timers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Timers.class);

    /** Half of the range of a long, so that differences of {@link System#nanoTime} never overflow. */
    private static final long NEVER = Long.MAX_VALUE / 2;

    private static final VarHandle DEADLINE;

    static {
        try {
            DEADLINE = MethodHandles.lookup().findVarHandle(Timer.class, "deadline", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LongSupplier clock;
    private final long origin;
    private final AtomicReference<Timer> armed = new AtomicReference<>();
    private final Thread thread;
    private Timer[] heap = new Timer[64];
    private int heapSize;
    private volatile long nextWake = NEVER;
    private volatile boolean closed;

    /** Timers by the clock of the machine. */
    public Timers() {
        this(System::nanoTime);
    }

    /**
     * Starts the thread.
     *
     * @param clock nanoseconds since any time; one that is not the machine's calls {@link #clockChanged} when it goes on
     */
    public Timers(LongSupplier clock) {
        this.clock = clock;
        this.origin = clock.getAsLong();
        thread = Thread.ofPlatform().name("timers").daemon(true).start(this::work);
    }

    /** Nanoseconds since these timers were made: the clock of all deadlines. */
    public long now() {
        return clock.getAsLong() - origin;
    }

    /** The clock has jumped: deadlines may be over that are not by the time that has passed. */
    public void clockChanged() {
        LockSupport.unpark(thread);
    }

    /** A new timer, not armed. {@code action} runs on the thread of the timers, once for each time armed. */
    public Timer timer(Runnable action) {
        return new Timer(action);
    }

    /** One wake-up that can be armed again and again. Any thread. */
    public final class Timer {
        private final Runnable action;
        private final AtomicBoolean listed = new AtomicBoolean();
        private volatile long deadline = NEVER;

        // The thread's own, and, while listed, the link of the list.
        private Timer next;
        private long key;
        private int at = -1;

        private Timer(Runnable action) {
            this.action = action;
        }

        /** Fires once at {@code when} (of {@link Timers#now}), or as soon as possible; replaces an earlier deadline. */
        public void arm(long when) {
            deadline = Math.min(when, NEVER - 1);
            if (listed.compareAndSet(false, true)) {
                Timer head;
                do {
                    head = armed.get();
                    next = head;
                } while (!armed.compareAndSet(head, this));
            }
            if (when < nextWake) {
                LockSupport.unpark(thread);
            }
        }

        /** Fires no more until it is armed again, but for an action that has already begun. */
        public void disarm() {
            deadline = NEVER;
        }

        /** Whether it is going to fire. */
        public boolean isArmed() {
            return deadline != NEVER;
        }
    }

    private void work() {
        while (!closed) {
            take();
            long now = now();
            while (heapSize > 0 && heap[0].key <= now) {
                fire(heap[0], now);
            }
            nextWake = heapSize == 0 ? NEVER : heap[0].key;
            if (armed.get() != null) {
                continue;
            }
            if (heapSize == 0) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, Math.max(1, heap[0].key - now()));
            }
        }
    }

    /** Moves what was armed from the list into the heap. */
    private void take() {
        Timer t = armed.getAndSet(null);
        while (t != null) {
            Timer following = t.next;
            t.next = null;
            t.listed.set(false);
            place(t, t.deadline);
            t = following;
        }
    }

    private void fire(Timer t, long now) {
        long deadline = t.deadline;
        if (deadline > now) {
            place(t, deadline);
            return;
        }
        place(t, NEVER);
        // Disarmed and armed again meanwhile: then this deadline is gone, and the timer is listed with the new one.
        if (!DEADLINE.compareAndSet(t, deadline, NEVER)) {
            return;
        }
        try {
            t.action.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a timer's action failed; its next deadline is kept", e);
        }
    }

    /** Puts a timer where its key belongs; {@link #NEVER} takes it out. */
    private void place(Timer t, long key) {
        if (key == NEVER) {
            if (t.at >= 0) {
                remove(t);
            }
            return;
        }
        if (t.at < 0) {
            if (heapSize == heap.length) {
                heap = Arrays.copyOf(heap, 2 * heapSize);
            }
            t.at = heapSize++;
            heap[t.at] = t;
        }
        t.key = key;
        up(t);
        down(t);
    }

    private void remove(Timer t) {
        Timer last = heap[--heapSize];
        heap[heapSize] = null;
        if (last != t) {
            last.at = t.at;
            heap[last.at] = last;
            up(last);
            down(last);
        }
        t.at = -1;
    }

    private void up(Timer t) {
        while (t.at > 0) {
            Timer parent = heap[(t.at - 1) / 2];
            if (parent.key <= t.key) {
                return;
            }
            swap(parent, t);
        }
    }

    private void down(Timer t) {
        for (int child; (child = 2 * t.at + 1) < heapSize; ) {
            if (child + 1 < heapSize && heap[child + 1].key < heap[child].key) {
                child++;
            }
            if (heap[child].key >= t.key) {
                return;
            }
            swap(t, heap[child]);
        }
    }

    /** Exchanges a timer with one directly below it. */
    private void swap(Timer upper, Timer lower) {
        int at = upper.at;
        upper.at = lower.at;
        lower.at = at;
        heap[upper.at] = upper;
        heap[lower.at] = lower;
    }

    /** Ends the thread; nothing fires any more. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive() && !thread.equals(Thread.currentThread())) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
