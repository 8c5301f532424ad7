// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.MessageSocket;

/**
 * Waits for the next message on a socket: by asking again and again for a short time where that has paid lately, else in
 * the kernel. Waking a thread on another processor costs several times the handling of a register access; a thread that
 * spins for nothing costs the guests their processor. So it spins only after messages have come at short distances
 * several times in a row, stops when it was wrong a few times, and gives way when others spin already ({@link
 * SpinBudget}). Confined to one thread.
 */
public final class AdaptiveSpin {
    /** Longest spin; about what waking a thread costs at worst. */
    static final long SPIN_NANOS = 50_000;

    /** Messages at short distance in a row from which on spinning starts. */
    private static final int NEAR_TO_START = 4;

    /** Spins for nothing, more than successful ones, after which it stops. */
    private static final int CREDIT = 8;

    private final SpinBudget budget;
    private int near;
    private int credit;

    public AdaptiveSpin(SpinBudget budget) {
        this.budget = budget;
    }

    /**
     * As {@link MessageSocket#receive}, waiting.
     *
     * @param timeoutMillis how long to wait once it does not spin any more; negative for as long as it takes
     * @return as there; {@code -EAGAIN} when the time has passed
     */
    int receive(MessageSocket socket, long to, int bytes, int timeoutMillis) {
        long begin = System.nanoTime();
        if (credit > 0 && budget.take()) {
            try {
                do {
                    int r = socket.receive(to, bytes, MessageSocket.DONT_WAIT);
                    if (r != -Errno.EAGAIN) {
                        credit = Math.min(credit + 1, CREDIT);
                        return r;
                    }
                    Thread.onSpinWait();
                } while (System.nanoTime() - begin < SPIN_NANOS);
            } finally {
                budget.give();
            }
            if (--credit == 0) {
                near = 0;
            }
            return sleep(socket, to, bytes, timeoutMillis);
        }
        int r = sleep(socket, to, bytes, timeoutMillis);
        if (System.nanoTime() - begin > SPIN_NANOS) {
            near = 0;
        } else if (++near >= NEAR_TO_START) {
            credit = CREDIT;
        }
        return r;
    }

    private static int sleep(MessageSocket socket, long to, int bytes, int timeoutMillis) {
        if (timeoutMillis < 0) {
            return socket.receive(to, bytes, 0);
        }
        int ready = socket.awaitReadable(timeoutMillis);
        if (ready <= 0) {
            return ready == 0 ? -Errno.EAGAIN : ready;
        }
        return socket.receive(to, bytes, MessageSocket.DONT_WAIT);
    }

    /** Whether the next wait would start with spinning. */
    boolean spins() {
        return credit > 0;
    }
}
