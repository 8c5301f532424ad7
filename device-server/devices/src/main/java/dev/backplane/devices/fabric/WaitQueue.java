// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Workers;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Senders that wait for one thing, a place in rendezvous memory or room at an output port, in the order in which they
 * came. What becomes free is handed to the first of them before it is woken, and as long as anybody waits nobody who
 * comes later may take any: so a sender waits for one round of the others at most.
 *
 * <p>The race of waiting: a sender enters, which wakes this loop, which tries to grant; whoever frees something frees
 * it, then looks whether anybody waits. Entering and freeing are both atomic adds followed by a volatile read, so this
 * loop finds what was freed, or is woken for it.
 */
abstract class WaitQueue extends DrainLoop {
    private static final int GRANTS_PER_TURN = 64;

    private final AtomicReference<Waiter> entered = new AtomicReference<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private Waiter first;
    private Waiter last;

    WaitQueue(Workers workers) {
        super(workers);
    }

    /** Hands what it needs to {@code waiter}, into its fields, if there is enough now. */
    protected abstract boolean grant(Waiter waiter);

    /** Takes back what {@link #grant} handed over, because the waiter has gone. */
    protected abstract void revoke(Waiter waiter);

    /** Whether anybody waits: then nobody else may take. */
    final boolean occupied() {
        return waiting.get() != 0;
    }

    /** Enters a waiter that is WAITING. Its sender is woken once it is GRANTED. */
    final void enter(Waiter waiter) {
        waiting.getAndIncrement();
        Waiter head;
        do {
            head = entered.get();
            waiter.next = head;
        } while (!entered.compareAndSet(head, waiter));
        wake();
    }

    /** Something was freed, or a waiter cancelled: whoever waits may get it. */
    final void released() {
        if (waiting.get() != 0) {
            wake();
        }
    }

    @Override
    protected final boolean turn() {
        appendEntered();
        int grants = 0;
        while (first != null) {
            Waiter w = first;
            if (w.state.get() == Waiter.State.WAITING) {
                if (!grant(w)) {
                    return false;
                }
                Waiter following = w.next;
                if (w.state.compareAndSet(Waiter.State.WAITING, Waiter.State.GRANTED)) {
                    // From here on the sender owns the waiter and may enter it anew.
                    removeFirst(following);
                    w.sender.wake();
                    if (++grants == GRANTS_PER_TURN) {
                        return true;
                    }
                    continue;
                }
                revoke(w);
            }
            removeFirst(w.next);
        }
        return false;
    }

    private void removeFirst(Waiter following) {
        first = following;
        if (following == null) {
            last = null;
        }
        waiting.getAndDecrement();
    }

    /** Appends those who have entered, latest first in their list, in the order in which they came. */
    private void appendEntered() {
        Waiter w = entered.getAndSet(null);
        Waiter oldest = null;
        Waiter latest = w;
        while (w != null) {
            Waiter before = w.next;
            w.next = oldest;
            oldest = w;
            w = before;
        }
        if (oldest == null) {
            return;
        }
        if (last == null) {
            first = oldest;
        } else {
            last.next = oldest;
        }
        last = latest;
    }
}
