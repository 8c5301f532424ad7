// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waiting for a condition that other threads announce with {@code notifyAll}. */
final class Monitor {
    private Monitor() {}

    /**
     * Waits, holding {@code monitor}, until {@code done} or until {@code limit} has passed.
     *
     * @return whether it is done
     * @throws GuestFailure when the thread is interrupted, as by a test's time limit
     */
    static boolean await(Object monitor, BooleanSupplier done, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!done.getAsBoolean()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            try {
                monitor.wait(Math.max(1, left / 1_000_000));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new GuestFailure("interrupted while waiting", e);
            }
        }
        return true;
    }
}
