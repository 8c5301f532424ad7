// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.memory.PromptThread;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for new actions in the pages of the contexts that lately had some, so that a busy process rings no doorbell. A
 * context in which nothing is found for its spin time goes to sleep ({@link GetPutContext}); with no context left the
 * thread parks, so that an idle server, however many contexts are mapped, uses no CPU.
 *
 * <p>The spin time of each context adapts: a doorbell soon after falling asleep doubles it, one long after halves it. While
 * the thread is short of a processor ({@link Crowding}) all contexts go to sleep at once and stay asleep: each batch of
 * actions rings, and is carried out by the thread that is woken for it. A dedicated poller was promised a processor, and
 * never does that.
 *
 * <p>The race: activating stores the newcomer, then loads {@code parked}; the thread stores {@code parked}, then loads the
 * newcomers. All are volatile, so the thread finds it or is woken.
 */
final class ContextPoller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ContextPoller.class);

    /** Limits of the adapted spin time, as factors of the configured one. */
    private static final int MAX_FACTOR = 8;

    private static final int MIN_FACTOR = 4;

    /** A doorbell that comes within so many spin times of falling asleep was worth waiting for. */
    private static final int SOON = 8;

    /** Rounds without work after which other threads of a busy machine get their turn. */
    private static final int POLITE_AFTER = 64;

    private final boolean dedicated;
    private final long spin;
    private final LongSupplier clock;
    private final Crowding crowding;
    private final AtomicReference<PollState> newcomers = new AtomicReference<>();
    private final Thread thread;
    private PollState[] active = new PollState[16];
    private int count;
    private volatile boolean parked;
    private volatile boolean closed;

    private final CounterGroup counters;
    private final Counter wakeups;
    private final Counter rounds;

    /** @param clock nanoseconds since any time */
    ContextPoller(MessagingConfig config, int number, LongSupplier clock) {
        this.dedicated = config.dedicated();
        this.spin = config.spinMicros() * 1000L;
        this.clock = clock;
        this.counters = new CounterGroup("poller" + number);
        this.wakeups = counters.counter("wakeups", "Times that the poller woke up");
        this.rounds = counters.counter("rounds", "Rounds through the active contexts, counted when it falls asleep");
        this.crowding = new Crowding(
                clock,
                counters.counter("crowded", "Times that polling was given up for a while for want of a processor"));
        this.thread = new PromptThread(this::run, "imm-poller-" + number, 0);
        thread.start();
    }

    CounterGroup counters() {
        return counters;
    }

    /** Whether the thread has nothing to look at and sleeps. */
    boolean parked() {
        // A newcomer may have come that the thread has not woken up for yet.
        return parked && newcomers.get() == null;
    }

    /** Whether contexts had better sleep, since the poller is short of a processor. Any thread. */
    boolean crowded() {
        return !dedicated && crowding.crowded();
    }

    /** Looks at a context from now on, until it is asleep or gone. Any thread. */
    void activate(PollState p) {
        if (!p.newcomer.compareAndSet(false, true)) {
            return;
        }
        PollState head;
        do {
            head = newcomers.get();
            p.next = head;
        } while (!newcomers.compareAndSet(head, p));
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding only helps others; nothing depends on it
    private void run() {
        long round = 0;
        int idleRounds = 0;
        while (!closed) {
            long now = clock.getAsLong();
            if (newcomers.get() != null) {
                welcome(now);
            }
            boolean crowded = !dedicated && crowding.begins(now, count);
            if (count == 0) {
                rounds.add(round);
                round = 0;
                park();
                continue;
            }
            round++;
            if (look(now, crowded)) {
                idleRounds = 0;
                continue;
            }
            crowding.foundNothing();
            if (++idleRounds < POLITE_AFTER || dedicated) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    private void park() {
        parked = true;
        if (newcomers.get() == null && !closed) {
            LockSupport.park(this);
            wakeups.increment();
        }
        parked = false;
    }

    private void welcome(long now) {
        PollState p = newcomers.getAndSet(null);
        while (p != null) {
            PollState following = p.next;
            p.next = null;
            p.newcomer.set(false);
            p.latestWork = now;
            if (!p.listed) {
                adapt(p, now);
                p.listed = true;
                if (count == active.length) {
                    active = Arrays.copyOf(active, 2 * count);
                }
                active[count++] = p;
            }
            p = following;
        }
    }

    private void adapt(PollState p, long now) {
        boolean soon = now - p.sleptAt < SOON * p.spin;
        p.spin = soon ? Math.min(2 * p.spin, MAX_FACTOR * spin) : Math.max(p.spin / 2, spin / MIN_FACTOR);
    }

    /** One round; returns whether there was work. */
    private boolean look(long now, boolean crowded) {
        boolean found = false;
        for (int i = 0; i < count; i++) {
            PollState p = active[i];
            if (p.asleep) {
                remove(i--, now);
                continue;
            }
            switch (look(p)) {
                case WORK -> {
                    found = true;
                    p.latestWork = now;
                    p.context.wake();
                }
                case IDLE -> {
                    if (crowded || (!dedicated && now - p.latestWork > p.spin)) {
                        p.sleepWanted = true;
                        p.context.wake();
                    }
                }
                case GONE -> remove(i--, now);
            }
        }
        return found;
    }

    private static GetPutContext.Look look(PollState p) {
        try {
            return p.context.look();
        } catch (RuntimeException | Error e) {
            LOG.error("{} cannot be polled any more", p.context, e);
            return GetPutContext.Look.GONE;
        }
    }

    private void remove(int i, long now) {
        PollState p = active[i];
        p.listed = false;
        p.sleptAt = now;
        active[i] = active[--count];
        active[count] = null;
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
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
