// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Workers;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Something at a target node that carries out requests one at a time, whoever they come from: the serialising point of
 * the inter-node messaging module. A request that finds it free is carried out at once on the thread of its context;
 * others queue in an inbox, an intrusive list for many producers, and are answered by waking their context. If the
 * target's guest does not share its memory, all queue, and are carried out on that guest's lane.
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

    /** Not a status: nothing was moved for good, the step has to be made again. */
    static final int AGAIN = -1;

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
     * Makes one step with a request, inside a use of its initiator's memory, in which it is valid; or, on the lane of this
     * target's guest, with one that is claimed. Sets the request's result if that finishes it. MORE means that it wants to
     * be called with the same request next.
     */
    protected abstract Outcome carryOut(Request r);

    /** The outcome of a step that ended with {@code status}, {@link #AGAIN} or what the request ends with. */
    protected static Outcome outcome(Request r, int status) {
        if (status == AGAIN) {
            return Outcome.MORE;
        }
        r.finish(status);
        return Outcome.FINISHED;
    }

    /** What else there is to do in a turn, such as requests in wait lists; returns whether work is left. */
    protected boolean attend() {
        return false;
    }

    /** Whether a request carried out outside a turn has left something for {@link #attend}. */
    protected boolean needsTurn() {
        return false;
    }

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
        Outcome outcome;
        if (onLane()) {
            outcome = claim(r);
            if (outcome == Outcome.MORE) {
                outcome = giveBack(r, carryOut(r));
            }
        } else {
            outcome = attemptInUse(r);
        }
        if (outcome == Outcome.FINISHED) {
            r.binding.context.wake();
        }
        return outcome;
    }

    private Outcome attemptInUse(Request r) {
        GuestMemory guest = r.binding.guest;
        int use = guest.enter();
        try {
            if (!r.valid()) {
                return drop(r);
            }
            Outcome outcome = carryOut(r);
            if (outcome == Outcome.FINISHED) {
                r.answer();
            }
            return outcome;
        } finally {
            guest.exit(use);
        }
    }

    /**
     * Prepares a request for a step that may wait for the client of this target's guest, which the client of the initiator
     * must not wait for: so the step is not inside a use of the initiator's memory, and touches nothing of the initiator's.
     *
     * @return MORE if the step may be made, FINISHED if it need not, or DROPPED
     */
    private Outcome claim(Request r) {
        if (r.claimed) {
            return Outcome.MORE; // the same step once more
        }
        GuestMemory guest = r.binding.guest;
        int use = guest.enter();
        try {
            if (!r.valid()) {
                return drop(r);
            }
            int status = stage(r);
            if (status != 0) {
                r.finish(status);
                r.answer();
                return Outcome.FINISHED;
            }
            r.claimed = true;
            return Outcome.MORE;
        } finally {
            guest.exit(use);
        }
    }

    private static int stage(Request r) {
        try {
            return r.stage();
        } catch (GuestMemoryFault f) {
            r.binding.context.module.memoryFault(f);
            return Completion.BAD_ADDRESS;
        }
    }

    /** After such a step: the request is its initiator's again, unless that has gone, or the step has to be repeated. */
    private static Outcome giveBack(Request r, Outcome outcome) {
        if (outcome == Outcome.MORE) {
            return outcome;
        }
        GuestMemory guest = r.binding.guest;
        int use = guest.enter();
        try {
            r.claimed = false;
            if (!r.valid()) {
                return outcome == Outcome.HELD ? outcome : drop(r);
            }
            if (outcome == Outcome.FINISHED) {
                r.answer();
            }
            return outcome;
        } finally {
            guest.exit(use);
        }
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
            r.answer();
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
