// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.MessageSocket;

/**
 * Waits for the next message on a socket: by asking again and again for a short time where that has paid lately, else in
 * the kernel. Waking a thread on another processor costs several times the handling of a register access; a thread that
 * spins for nothing costs the guests their processor. So it spins only while that pays ({@link SpinCredit}), and gives way
 * when others spin already ({@link SpinBudget}). Confined to one thread.
 */
public final class AdaptiveSpin {
    /** Longest spin; about what waking a thread costs at worst. */
    static final long SPIN_NANOS = 50_000;

    private final SpinBudget budget;
    private final SpinCredit credit = new SpinCredit();

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
        if (credit.worthwhile() && budget.take()) {
            int r = spin(socket, to, bytes, begin);
            credit.spun(r != -Errno.EAGAIN);
            return r != -Errno.EAGAIN ? r : sleep(socket, to, bytes, timeoutMillis);
        }
        int r = sleep(socket, to, bytes, timeoutMillis);
        credit.slept(System.nanoTime() - begin <= SPIN_NANOS);
        return r;
    }

    private int spin(MessageSocket socket, long to, int bytes, long begin) {
        try {
            int r;
            do {
                r = socket.receive(to, bytes, MessageSocket.DONT_WAIT);
                if (r != -Errno.EAGAIN) {
                    return r;
                }
                Thread.onSpinWait();
            } while (System.nanoTime() - begin < SPIN_NANOS);
            return r;
        } finally {
            budget.give();
        }
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
}
