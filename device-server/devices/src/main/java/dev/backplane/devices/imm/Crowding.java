// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.counter.Counter;
import java.util.function.LongSupplier;

/**
 * Whether a polling thread is short of a processor. Polling is worse than sleeping then: an action waits until the poller
 * gets its turn, milliseconds later, and meanwhile the poller takes the processor from the guests whose actions it looks
 * for. A doorbell wakes the thread that serves the guest at once.
 *
 * <p>What tells is time lost between two rounds of which the first found nothing: next to none, unless the thread was
 * preempted, or gave way and was not soon given its processor back. Once time is lost it is crowded for a pause, in which
 * nothing is to be polled. Time that is lost again soon after it makes the next pause twice as long.
 *
 * <p>Confined to the poller's thread, but for {@link #crowded}.
 */
final class Crowding {
    /** Losing less costs an action no more than waking a thread for its doorbell. */
    static final long LOST_NANOS = 250_000;

    /** What a look at one context takes at most. */
    static final long LOOK_NANOS = 1_000;

    static final long SHORTEST_PAUSE_NANOS = 20_000_000;
    static final long LONGEST_PAUSE_NANOS = 2_000_000_000;

    private final LongSupplier clock;
    private final Counter pauses;
    private long begun;
    private boolean vain;
    private long pause;
    private long latestEnd;

    /** End of the pause, or 0: there is none. */
    private volatile long end;

    /**
     * Not crowded so far.
     *
     * @param clock nanoseconds since any time
     * @param pauses counts the pauses
     */
    Crowding(LongSupplier clock, Counter pauses) {
        this.clock = clock;
        this.pauses = pauses;
    }

    /** A round through {@code contexts} begins, which may be none, at {@code now} by the clock; whether it is crowded. */
    boolean begins(long now, int contexts) {
        long lost = vain ? now - begun : 0;
        vain = false;
        begun = now;
        if (end != 0) {
            if (end - now > 0) {
                return true;
            }
            end = 0;
        }
        if (lost < LOST_NANOS + contexts * LOOK_NANOS) {
            return false;
        }
        boolean again = pause != 0 && now - latestEnd < pause;
        pause = again ? Math.min(2 * pause, LONGEST_PAUSE_NANOS) : SHORTEST_PAUSE_NANOS;
        latestEnd = now + pause == 0 ? 1 : now + pause;
        end = latestEnd;
        pauses.increment();
        return true;
    }

    /** The round found nothing: the next one is going to begin without delay. */
    void foundNothing() {
        vain = true;
    }

    /** Whether nothing had better be polled. Any thread. */
    boolean crowded() {
        long until = end;
        return until != 0 && until - clock.getAsLong() > 0;
    }
}
