// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.DeviceLink;

/**
 * The interrupt of one queue, and its moderation: at most one interrupt in {@code moderation_usecs}, so that the first
 * after a pause comes at once, and none is later than that; or sooner, after {@code moderation_frames} frames.
 */
final class QueueInterrupt {
    private static final long NEVER = Long.MIN_VALUE / 2;

    private final VnicDevice device;
    private final QueueLink link;
    private final Timers.Timer timer;

    // The loop's own; a stale value after a reset does no harm.
    private volatile long latest = NEVER;
    private int frames;

    QueueInterrupt(VnicDevice device, QueueLink link, int queue) {
        this.device = device;
        this.link = link;
        this.timer = device.timers().timer(this::expired);
    }

    /** The driver wants to hear of {@code n} more frames. */
    void want(int n) {
        int micros = link.moderationMicros();
        if (micros == 0) {
            device.events().signal(link.vector());
            return;
        }
        frames += n;
        int limit = link.moderationFrames();
        long now = device.timers().now();
        long due = latest + micros * 1000L;
        if (due <= now || (limit != 0 && frames >= limit)) {
            device.state().setInt(link.interruptDue(), 0);
            fire(now);
        } else if (device.state().compareAndSet(link.interruptDue(), 0, 1)) {
            device.count().interruptsModerated.increment();
            timer.arm(due);
        }
    }

    private void fire(long now) {
        latest = now;
        frames = 0;
        device.events().signal(link.vector());
    }

    /** On the timers' thread: signals what is held back, unless the queue has ended. */
    private void expired() {
        DeviceLink guest = link.guest();
        if (guest == null) {
            return;
        }
        // Inside a use of the memory, so that a reset, which waits for all uses, has no interrupt follow it.
        int token = guest.memory().enter();
        try {
            if (link.ring() != null && device.state().compareAndSet(link.interruptDue(), 1, 0)) {
                latest = device.timers().now();
                device.events().signal(link.vector());
            }
        } finally {
            guest.memory().exit(token);
        }
    }

    /** The queue is active again: an interrupt that was held back when it was stopped comes now. */
    void resume() {
        if (device.state().compareAndSet(link.interruptDue(), 1, 0)) {
            device.events().signal(link.vector());
        }
    }

    /** Lets no interrupt come any more that is held back. */
    void cancel() {
        timer.disarm();
    }
}
