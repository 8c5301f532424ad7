// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Workers;
import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Something at a target node that carries out requests one at a time, whoever they come from: the serialising point of
 * the inter-node messaging module. A request that finds it free is carried out at once on the thread of its context;
 * others queue in an inbox, an intrusive list for many producers, and are answered by waking their context.
 */
abstract class SerialTarget extends DrainLoop {
    /** What became of a request in one step. */
    enum Outcome {
        /** It has its status. */
        FINISHED,
        /** The target keeps it in a wait list. */
        HELD,
        /** The step was bounded; another one follows. */
        MORE,
        /** Nobody waits for it any more. */
        DROPPED
    }

    /** Most payload bytes that one step moves, so that no turn is long. */
    static final int STEP_BYTES = 64 << 10;

    private static final int BATCH = 32;
    private static final VarHandle INBOX;

    static {
        try {
            INBOX = MethodHandles.lookup().findVarHandle(SerialTarget.class, "inbox", Request.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Youngest first. */
    private volatile Request inbox;

    private volatile boolean sweepWanted;
    /** Taken out of the inbox, oldest first. Belongs to the loop, as does all below. */
    private Request queue;

    private Request current;

    SerialTarget(Workers workers) {
        super(workers);
    }

    /**
     * Makes one step with a request, inside a use of its initiator's memory, in which it is valid. Sets the request's
     * result if that finishes it.
     */
    protected abstract Outcome carryOut(Request r);

    /** What else there is to do in a turn, such as requests in wait lists; returns whether work is left. */
    protected abstract boolean attend();

    /** Whether a request carried out outside a turn has left something for {@link #attend}. */
    protected abstract boolean needsTurn();

    /**
     * Takes the target for a few requests of one initiator in a row, up to {@link #release}: what each of them would cost
     * is then paid once. Who takes one target takes no other before that.
     *
     * @return false when somebody else has it
     */
    final boolean take() {
        if (!tryEnter()) {
            return false;
        }
        hold();
        return true;
    }

    /** Gives up what {@link #take} took. */
    final void release() {
        try {
            unhold();
            if (busy() || needsTurn()) {
                wake();
            }
        } finally {
            leave();
        }
    }

    /** The target was taken: prepares for {@link #carryOut}. */
    protected void hold() {}

    /** Undoes {@link #hold}. */
    protected void unhold() {}

    /**
     * Hands over a request to a target that is taken, inside a use of its initiator's memory.
     *
     * @return whether it is finished; if not, its context is woken when it is
     */
    final boolean serve(Request r) {
        Outcome outcome = carryOut(r);
        if (outcome == Outcome.MORE) {
            goOnWith(r);
        }
        return outcome == Outcome.FINISHED;
    }

    /** Hands over a request to a target that somebody else has; its context is woken when it is finished. */
    final void queue(Request r) {
        push(r);
        wake();
    }

    /** Has requests thrown out of wait lists that nobody waits for any more. */
    final void sweep() {
        sweepWanted = true;
        wake();
    }

    /** Whether that is wanted; by the loop, which then does it. */
    protected final boolean takeSweep() {
        if (!sweepWanted) {
            return false;
        }
        sweepWanted = false;
        return true;
    }

    private void push(Request r) {
        Request top;
        do {
            top = inbox;
            r.next = top;
        } while (!INBOX.compareAndSet(this, top, r));
    }

    @Override
    protected final boolean turn() {
        if (current != null) {
            step(current);
        }
        for (int i = 0; i < BATCH && current == null; i++) {
            Request r = poll();
            if (r == null) {
                break;
            }
            step(r);
        }
        boolean more = current == null && attend();
        return more || current != null || queue != null || inbox != null;
    }

    /** Whether a request is half done: until it is finished nothing else may happen here. */
    protected final boolean busy() {
        return current != null;
    }

    /** Makes {@code r}, which is half done, the request that the next turns go on with. */
    protected final void goOnWith(Request r) {
        current = r;
    }

    private void step(Request r) {
        current = null;
        Outcome outcome = attempt(r);
        if (outcome == Outcome.MORE) {
            goOnWith(r);
        }
    }

    /** Makes a step with a request from a list, if it is still valid, and wakes its context when that finishes it. */
    protected final Outcome attempt(Request r) {
        GuestMemory guest = r.binding.guest;
        Outcome outcome;
        int use = guest.enter();
        try {
            outcome = r.valid() ? carryOut(r) : drop(r);
        } finally {
            guest.exit(use);
        }
        if (outcome == Outcome.FINISHED) {
            r.binding.context.wake();
        }
        return outcome;
    }

    /** Ends a request from a list with that status, if it is still valid. */
    protected final void end(Request r, int status) {
        GuestMemory guest = r.binding.guest;
        int use = guest.enter();
        try {
            if (!r.valid()) {
                drop(r);
                return;
            }
            r.finish(status);
        } finally {
            guest.exit(use);
        }
        r.binding.context.wake();
    }

    private static Outcome drop(Request r) {
        r.binding.context.module.tally().lateResults.increment();
        return Outcome.DROPPED;
    }

    private Request poll() {
        if (queue == null) {
            Request r = (Request) INBOX.getAndSet(this, null);
            while (r != null) {
                Request older = r.next;
                r.next = queue;
                queue = r;
                r = older;
            }
        }
        Request first = queue;
        if (first != null) {
            queue = first.next;
            first.next = null;
        }
        return first;
    }
}
