// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import java.util.concurrent.atomic.AtomicInteger;

/** How many threads may spin at a time. One is shared by all connections of a program. */
public final class SpinBudget {
    private final AtomicInteger free;

    /** A budget of {@code threads} threads; with 0 nobody spins. */
    public SpinBudget(int threads) {
        this.free = new AtomicInteger(threads);
    }

    /** Half of this machine's processors, none on a machine with one. */
    public static SpinBudget ofMachine() {
        return new SpinBudget(Runtime.getRuntime().availableProcessors() / 2);
    }

    boolean take() {
        int n = free.get();
        return n > 0 && (free.compareAndSet(n, n - 1) || retry());
    }

    private boolean retry() {
        if (free.decrementAndGet() >= 0) {
            return true;
        }
        free.incrementAndGet();
        return false;
    }

    void give() {
        free.incrementAndGet();
    }
}
