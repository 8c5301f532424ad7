// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Work that must run serially: one vNIC's transmit side, one output port, one ring. Instead of a lock or a hand-over to
 * a thread of its own, it has a count of wake-ups: whoever raises it from zero runs the loop on its own thread, all
 * others only count. So there is no thread switch on the fast path and no lock across device code.
 *
 * <p>A turn is bounded. What is left after it, and what a turn wakes beyond the budget of the thread it runs on, goes to
 * a {@link Workers} thread, so that no client's reply ever waits behind somebody else's traffic.
 *
 * <p>The race: a waker publishes work, then raises the count; the loop finds no work, then lowers the count by what it
 * had seen. Both are atomic adds on the same word (full barriers), so either the loop's {@link #turn} sees the work, or
 * lowering leaves a rest and the loop turns again.
 */
public abstract class DrainLoop {
    private final Workers workers;
    private final AtomicInteger wakeups = new AtomicInteger();

    /** Where turns run, or null for wherever the loop is woken. */
    private volatile SlowLane lane;

    /** Intrusive link of the list of loops waiting on one thread; used by {@link Trampoline} only. */
    DrainLoop next;

    /** Creates an idle loop whose overflow goes to {@code workers}. */
    protected DrainLoop(Workers workers) {
        this.workers = workers;
    }

    /**
     * Does a bounded amount of work. Never runs twice at a time; each turn sees all that earlier turns wrote.
     *
     * @return whether work is left that nobody will announce again
     */
    protected abstract boolean turn();

    /** Announces work. Any thread; runs turns on this thread when nobody else is, and when this thread may. */
    public final void wake() {
        if (wakeups.getAndIncrement() == 0) {
            dispatch();
        }
    }

    /**
     * Takes the loop for the calling thread if nobody has it or has announced anything. What follows, up to {@link
     * #leave}, is like a short turn: for one loop's turn that has a single thing to be done by another loop, at once.
     *
     * @return whether the loop is taken
     */
    protected final boolean tryEnter() {
        return lane == null && wakeups.compareAndSet(0, 1);
    }

    /** Gives up what {@link #tryEnter} took; what was announced meanwhile is run as after {@link #wake}. */
    protected final void leave() {
        if (wakeups.decrementAndGet() != 0) {
            dispatch();
        }
    }

    private void dispatch() {
        if (lane != null || !workers.inline() || SlowLane.current()) {
            handOver();
        } else {
            Trampoline.run(this);
        }
    }

    /** Gives the loop, which the calling thread owns, to the thread that it belongs on: its lane's or a worker's. */
    final void handOver() {
        SlowLane l = lane;
        if (l == null) {
            workers.submit(this);
        } else {
            l.run(this);
        }
    }

    /** Has turns run on a lane from the next one on, or with null wherever the loop is woken. Any thread. */
    public final void runOn(SlowLane to) {
        lane = to;
    }

    final SlowLane lane() {
        return lane;
    }

    /** Whether the loop has a lane and the calling thread is its: whether this turn may wait for the lane's guest. */
    protected final boolean onLane() {
        SlowLane l = lane;
        return l != null && l.mine();
    }

    /** Announces work from a thread that must not run turns itself, such as that of the {@link Timers}. */
    public final void wakeLater() {
        if (wakeups.getAndIncrement() == 0) {
            handOver();
        }
    }

    /** Whether nobody runs the loop and nothing is announced. */
    public final boolean idle() {
        return wakeups.get() == 0;
    }

    /** Runs one turn for the thread that owns the loop now, and gives the loop up or on. */
    final boolean step() {
        int seen = wakeups.get();
        boolean more;
        try {
            more = turn();
        } catch (Throwable t) {
            // A turn handles what guests do wrong by itself; what arrives here is our own fault. The loop stays usable.
            workers.failed(this, t);
            more = false;
        }
        if (more) {
            return true;
        }
        return wakeups.addAndGet(-seen) != 0;
    }
}
