// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

/**
 * The loops that one thread has to run, one after the other: a loop woken from inside another's turn waits in a list
 * instead of on the stack. After {@link #BUDGET} turns the rest goes to the workers, where it queues behind what is there.
 */
final class Trampoline {
    /** Turns that a thread runs before it goes back to what it came from, such as serving its client. */
    static final int BUDGET = 16;

    private static final ThreadLocal<Trampoline> CURRENT = ThreadLocal.withInitial(Trampoline::new);

    private DrainLoop first;
    private DrainLoop last;
    private boolean running;

    private Trampoline() {}

    static void run(DrainLoop loop) {
        Trampoline t = CURRENT.get();
        t.append(loop);
        if (!t.running) {
            t.drain();
        }
    }

    private void append(DrainLoop loop) {
        loop.next = null;
        if (last == null) {
            first = loop;
        } else {
            last.next = loop;
        }
        last = loop;
    }

    private void drain() {
        running = true;
        try {
            int turns = 0;
            DrainLoop loop;
            while ((loop = remove()) != null) {
                if (loop.lane() != null || turns++ >= BUDGET) {
                    loop.handOver();
                } else if (loop.step()) {
                    append(loop);
                }
            }
        } finally {
            running = false;
        }
    }

    private DrainLoop remove() {
        DrainLoop loop = first;
        if (loop != null) {
            first = loop.next;
            if (first == null) {
                last = null;
            }
            loop.next = null;
        }
        return loop;
    }
}
