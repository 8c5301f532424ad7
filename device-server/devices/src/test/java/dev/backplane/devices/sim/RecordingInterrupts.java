// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.sim;

import dev.backplane.vfiouser.interrupt.Interrupts;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/** Interrupts that are counted, and that a test can wait for. Counting neither allocates nor locks without a waiter. */
public final class RecordingInterrupts implements Interrupts {
    /** Vectors that are counted one by one; others only in {@link #outside}. */
    public static final int VECTORS = 2048;

    private final AtomicLongArray counts = new AtomicLongArray(VECTORS);
    private final AtomicLongArray total = new AtomicLongArray(2);
    private final AtomicInteger waiters = new AtomicInteger();
    private volatile boolean messageSignalled = true;
    private volatile boolean pin;

    RecordingInterrupts() {}

    /** Chooses between MSI-X, the default, and INTx. */
    public void messageSignalled(boolean on) {
        messageSignalled = on;
    }

    @Override
    public boolean messageSignalled() {
        return messageSignalled;
    }

    @Override
    public void signal(int vector) {
        // First the total: whoever has waited for a vector finds it counted.
        total.incrementAndGet(0);
        if (vector < 0 || vector >= VECTORS) {
            total.incrementAndGet(1);
        } else {
            counts.incrementAndGet(vector);
        }
        changed();
    }

    @Override
    public void pin(boolean asserted) {
        pin = asserted;
        changed();
    }

    /** Level of the INTx pin. */
    public boolean pin() {
        return pin;
    }

    /** How often the vector was signalled. */
    public long count(int vector) {
        return counts.get(vector);
    }

    /** How often any vector was signalled. */
    public long total() {
        return total.get(0);
    }

    /** Signals of vectors that no device can have. */
    public long outside() {
        return total.get(1);
    }

    /** Waits until the vector has been signalled {@code times} times in all; an error after ten seconds. */
    public void await(int vector, long times) {
        await("vector " + vector + " " + times + " times", () -> count(vector) >= times);
    }

    /** Waits until the pin has this level; an error after ten seconds. */
    public void awaitPin(boolean level) {
        await("pin " + level, () -> pin == level);
    }

    /** A condition on interrupts. */
    public interface Condition {
        boolean met();
    }

    /** Waits for a condition that comes true with an interrupt; an error that says {@code what} after ten seconds. */
    public void await(String what, Condition condition) {
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        waiters.incrementAndGet();
        try {
            synchronized (this) {
                while (!condition.met()) {
                    long left = (end - System.nanoTime()) / 1_000_000;
                    if (left <= 0) {
                        throw new AssertionError("waited in vain for " + what + "; " + this);
                    }
                    wait(left);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for " + what, e);
        } finally {
            waiters.decrementAndGet();
        }
    }

    private void changed() {
        // A waiter counts itself before it looks, and we count before we look for waiters: one of us sees the other.
        if (waiters.get() != 0) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    @Override
    public String toString() {
        StringBuilder s = new StringBuilder("interrupts{pin=" + pin);
        for (int i = 0; i < VECTORS; i++) {
            if (counts.get(i) != 0) {
                s.append(", ").append(i).append(": ").append(counts.get(i));
            }
        }
        return s.append('}').toString();
    }
}
