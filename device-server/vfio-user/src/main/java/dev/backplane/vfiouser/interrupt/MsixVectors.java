// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.quiescence.Readers;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The MSI-X vectors: which eventfd each has, by what it is masked, whether it is pending. Signalling comes from any
 * thread and takes no lock; the client's thread changes the rest.
 *
 * <p>The race of a signal with an unmasking: {@link #signal} sets the pending bit and then looks at the masks again,
 * {@link #unmask} clears the mask and then looks at the pending bit. All are atomic operations with full ordering, so at
 * least one of the two sees the other, and the bit is taken by only one of them.
 */
final class MsixVectors {
    /** Reasons for a vector to be masked, and its pending bit, in one word for each vector. */
    static final int BY_TABLE = 1;

    static final int BY_CLIENT = 2;
    private static final int MASKED = BY_TABLE | BY_CLIENT;
    private static final int PENDING = 4;

    private final AtomicReferenceArray<EventFd> eventFds;
    private final AtomicIntegerArray states;
    private final InterruptCounters counters;
    private final Readers signallers = new Readers();

    private volatile boolean functionMasked;
    private final AtomicInteger wired = new AtomicInteger();

    MsixVectors(int count, InterruptCounters counters) {
        this.eventFds = new AtomicReferenceArray<>(count);
        this.states = new AtomicIntegerArray(count);
        this.counters = counters;
    }

    int count() {
        return states.length();
    }

    /** Whether any vector has an eventfd. */
    boolean wired() {
        return wired.get() > 0;
    }

    void signal(int vector) {
        if (vector < 0 || vector >= states.length()) {
            counters.dropped().increment();
            return;
        }
        if (masked(vector)) {
            set(vector, PENDING);
            counters.pended().increment();
            if (!masked(vector) && clear(vector, PENDING)) {
                deliver(vector);
            }
        } else {
            deliver(vector);
        }
    }

    /** Writes to the vector's eventfd, masked or not: what the client's TRIGGER asks for, too. */
    void deliver(int vector) {
        int token = signallers.enter();
        try {
            EventFd e = eventFds.get(vector);
            if (e == null) {
                counters.dropped().increment();
            } else if (e.signal()) {
                counters.signalled().increment();
            } else {
                counters.coalesced().increment();
            }
        } finally {
            signallers.exit(token);
        }
    }

    private boolean masked(int vector) {
        return functionMasked || (states.get(vector) & MASKED) != 0;
    }

    /** Gives vectors {@code start} on new eventfds, null for none; the old ones are closed when nobody uses them. */
    void wire(int start, EventFd[] fds) {
        EventFd[] old = new EventFd[fds.length];
        int change = 0;
        for (int i = 0; i < fds.length; i++) {
            old[i] = eventFds.getAndSet(start + i, fds[i]);
            change += (fds[i] != null ? 1 : 0) - (old[i] != null ? 1 : 0);
        }
        wired.addAndGet(change);
        close(old);
    }

    private void close(EventFd[] old) {
        boolean waited = false;
        for (EventFd e : old) {
            if (e != null) {
                if (!waited) {
                    signallers.await();
                    waited = true;
                }
                e.close();
            }
        }
    }

    void mask(int vector, int reason) {
        set(vector, reason);
    }

    void unmask(int vector, int reason) {
        clear(vector, reason);
        takePending(vector);
    }

    void functionMask(boolean masked) {
        if (functionMasked == masked) {
            return;
        }
        functionMasked = masked;
        if (!masked) {
            for (int v = 0; v < states.length(); v++) {
                takePending(v);
            }
        }
    }

    private void takePending(int vector) {
        if (!masked(vector) && clear(vector, PENDING)) {
            deliver(vector);
        }
    }

    /** Sixty-four pending bits, from vector {@code 64 * word} on. */
    long pending(int word) {
        long bits = 0;
        int end = Math.min(states.length(), 64 * word + 64);
        for (int v = 64 * word; v < end; v++) {
            bits |= (states.get(v) & PENDING) != 0 ? 1L << v : 0;
        }
        return bits;
    }

    /** Forgets masks and pending bits; eventfds stay. */
    void reset() {
        functionMasked = false;
        for (int v = 0; v < states.length(); v++) {
            states.set(v, 0);
        }
    }

    /** The state of a vector without its eventfd, to be saved. */
    int state(int vector) {
        return states.get(vector);
    }

    /**
     * Takes a saved state over; a pending vector that is not masked is signalled once {@link #resume} comes. What the
     * client had masked is the former client's affair.
     */
    void restore(int vector, int state) {
        states.set(vector, state & (BY_TABLE | PENDING));
    }

    /** Signals what is pending and not masked. */
    void resume() {
        for (int v = 0; v < states.length(); v++) {
            takePending(v);
        }
    }

    private void set(int vector, int bit) {
        int s;
        do {
            s = states.get(vector);
        } while (!states.compareAndSet(vector, s, s | bit));
    }

    /** Clears a bit; returns whether it was set. */
    private boolean clear(int vector, int bit) {
        int s;
        do {
            s = states.get(vector);
            if ((s & bit) == 0) {
                return false;
            }
        } while (!states.compareAndSet(vector, s, s & ~bit));
        return true;
    }
}
