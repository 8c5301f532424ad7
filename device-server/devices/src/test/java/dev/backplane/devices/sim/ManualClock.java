// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.sim;

import dev.backplane.devices.loop.Timers;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that goes on when the test says so, and timers by it. */
public final class ManualClock {
    private static final long SECOND = 1_000_000_000L;

    private final AtomicLong nanos = new AtomicLong();
    private final Timers timers = new Timers(nanos::get);

    public Timers timers() {
        return timers;
    }

    /** Nanoseconds since the clock was made. */
    public long nanos() {
        return nanos.get();
    }

    /** Goes on; timers that are due then fire soon, on their own thread. */
    public void advance(long by) {
        nanos.addAndGet(by);
        timers.clockChanged();
    }

    public void advanceSeconds(long seconds) {
        advance(seconds * SECOND);
    }
}
