// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.Timers;

/**
 * Emulates the link behind a port: a rate, as a token bucket, and a fixed latency. All but {@link #due} is the port's
 * loop's own.
 */
final class Pacer {
    /** Bytes that may go out at once after a pause: the largest frame, so that none is too large for the bucket. */
    private static final long BURST = FabricConfig.MAX_FRAME;

    private final boolean idle;
    private final double bytesPerNano;
    private final long latencyNanos;
    private final Timers timers;
    private final Timers.Timer timer;
    private double tokens = BURST;
    private long filled;

    Pacer(PortConfig config, Timers timers, Runnable wake) {
        this.bytesPerNano = config.rateMbit() / 8000.0;
        this.latencyNanos = config.latencyMicros() * 1000L;
        this.idle = config.rateMbit() == 0 && latencyNanos == 0;
        this.timers = timers;
        this.timer = idle ? null : timers.timer(wake);
    }

    /** Whether nothing is emulated. */
    boolean idle() {
        return idle;
    }

    /** Earliest time at which a frame that is queued now may go out; 0 for at once. Any thread. */
    long due() {
        return latencyNanos == 0 ? 0 : timers.now() + latencyNanos;
    }

    /** Whether the frame may go out now; if not, the port is woken when it may. */
    boolean permits(Frame frame, long now) {
        if (frame.due > now) {
            timer.arm(frame.due);
            return false;
        }
        if (bytesPerNano == 0) {
            return true;
        }
        tokens = Math.min(BURST, tokens + (now - filled) * bytesPerNano);
        filled = now;
        double missing = Math.min(frame.length, BURST) - tokens;
        if (missing > 0) {
            timer.arm(timers.now() + 1 + (long) (missing / bytesPerNano));
            return false;
        }
        return true;
    }

    void sent(Frame frame) {
        if (bytesPerNano != 0) {
            tokens -= frame.length;
        }
    }
}
