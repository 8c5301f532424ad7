// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.quiescence;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Knows when all who used a table before it changed have gone (the scheme of the Linux kernel's sleepable RCU). Readers
 * neither lock nor wait; the one writer publishes a change and then waits for those who may still use what was there.
 *
 * <p>The race: a reader enters and reads the table, the writer publishes a table and reads the counts. Both {@link
 * #enter} (an atomic add) and the counts' volatile reads in {@link #await} are full barriers, so either the reader sees
 * the new table, or the writer sees the reader.
 */
public final class Readers {
    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Distance of the two counts in longs: two cache lines, so that readers of both phases do not share one. */
    private static final int STRIDE = 16;

    private static final int SPINS = 1000;
    private static final long PARK_NANOS = 20_000;

    private final long[] counts = new long[3 * STRIDE];
    private volatile int phase;

    /** Starts a use; returns the token for {@link #exit}. */
    public int enter() {
        int token = phase;
        COUNTS.getAndAdd(counts, (token + 1) * STRIDE, 1L);
        return token;
    }

    /** Ends a use. */
    public void exit(int token) {
        COUNTS.getAndAdd(counts, (token + 1) * STRIDE, -1L);
    }

    /**
     * Waits for all who entered before the call. Two rounds, because a reader may have read the phase long before it
     * counted itself. By one thread at a time, never from inside a use.
     *
     * @return number of times that it had to sleep
     */
    public int await() {
        int slept = 0;
        for (int round = 0; round < 2; round++) {
            int old = phase;
            phase = old ^ 1;
            int spins = 0;
            while ((long) COUNTS.getVolatile(counts, (old + 1) * STRIDE) != 0) {
                if (++spins < SPINS) {
                    Thread.onSpinWait();
                } else {
                    slept++;
                    LockSupport.parkNanos(PARK_NANOS);
                }
            }
        }
        return slept;
    }
}
