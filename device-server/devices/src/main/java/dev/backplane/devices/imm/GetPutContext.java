// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;

/**
 * A GET/PUT context (US 9,672,143, claim 1): takes actions out of its page in order, sends each as a request to the
 * target's module, and writes how it ended; one is under way at a time. Runs on the thread that rings its doorbell, that
 * polls it, or that finishes its request.
 */
final class GetPutContext extends DrainLoop {
    final MessagingModule module;
    final int number;
    final PollState poll;

    private final ModuleBlock block;
    private final long record;
    private final ContextEvents events;
    private final StagedTransfer transfer;
    private volatile Binding binding;

    /** Whether the request is with a target; changed by the loop, read by a poller. */
    private volatile boolean outstanding;
    /** The target of a one-sided action that takes several turns. */
    private MessagingModule stepping;
    /** Whether the action that was to begin has to be begun in another turn. */
    private boolean again;

    /** The target that this turn has taken for what follows. */
    private SerialTarget taken;

    /** Where the request waits, so that closing the context can clean up there. */
    private volatile SerialTarget waitingAt;

    /** Payload bytes moved in this turn, for the counters. */
    private long bytes;
    /** Actions of one command that ended OK in this turn, not yet counted. */
    private int doneCommand;

    private int doneCount;

    GetPutContext(MessagingModule module, int number) {
        super(module.fabric().workers());
        this.module = module;
        this.number = number;
        this.block = module.block();
        this.record = block.context(number);
        this.events = new ContextEvents(module, number, record);
        this.transfer = new StagedTransfer(module);
        this.poll = new PollState(this);
    }

    Binding binding() {
        return binding;
    }

    ContextPages pages() {
        return module.pages();
    }

    int generation() {
        return block.getInt(record + ModuleBlock.CONTEXT_GENERATION);
    }

    /** Binds the context to a process; by the client's thread, when nobody has it. */
    Binding open() {
        int generation = generation() + 1;
        if (generation == 0) {
            generation = 1;
        }
        block.setInt(record + ModuleBlock.CONTEXT_GENERATION, generation);
        block.setInt(record + ModuleBlock.CONTEXT_NEXT, 0);
        block.setInt(record + ModuleBlock.CONTEXT_STATE, ContextState.OPEN.value());
        block.setLong(record + ModuleBlock.CONTEXT_ACTIONS, 0);
        block.setLong(record + ModuleBlock.CONTEXT_FAILURES, 0);
        boolean dedicated = module.fabric().config().dedicated();
        pages().open(number, generation, module.node().id(), !dedicated);
        Binding b = bind();
        if (dedicated) {
            poll.asleep = false;
            poll.poller.activate(poll);
        }
        return b;
    }

    /** Takes over a binding whose record and page were restored; what it may have missed, it hears of by an event. */
    Binding adopt(ContextState state) {
        Binding b = bind();
        if (state != ContextState.OPEN) {
            b.become(state);
        }
        events.add();
        return b;
    }

    private Binding bind() {
        forget();
        poll.asleep = true;
        poll.sleepWanted = false;
        Binding b = new Binding(this, generation(), module.guest());
        binding = b;
        return b;
    }

    /** Unbinds it: from now on no turn begins to act for the old binding. By the client's thread. */
    void unbind() {
        binding = null;
    }

    /** Has the target where the request may wait forget it; once the binding has ended. */
    void leaveTarget() {
        SerialTarget target = waitingAt;
        if (target != null) {
            target.sweep();
        }
        waitingAt = null;
    }

    /** An event for the context's process; any thread. */
    void event() {
        events.add();
        wake();
    }

    /** The doorbell was rung: goes on, and has the context polled for a while. */
    void doorbell() {
        poll.rung = true;
        wake();
        Binding b = binding;
        if (b != null) {
            for (Ring ring : b.rings()) {
                if (ring.wantsSpace()) {
                    ring.wake();
                }
            }
        }
    }

    /** What a poller sees in the context. */
    enum Look {
        WORK,
        IDLE,
        GONE
    }

    /** Looks for work without taking the loop. */
    Look look() {
        Binding b = binding;
        if (b == null) {
            return Look.GONE;
        }
        int use = b.guest.enter();
        try {
            if (binding != b || !b.open() || !module.live()) {
                return Look.GONE;
            }
            if (outstanding) {
                return Look.IDLE;
            }
            // A stale value of next is seen as work, and the turn finds that there is none.
            return pages().submit(number) == block.getInt(record + ModuleBlock.CONTEXT_NEXT) ? Look.IDLE : Look.WORK;
        } finally {
            b.guest.exit(use);
        }
    }

    @Override
    protected boolean turn() {
        Binding b = binding;
        if (b == null) {
            return false;
        }
        int use = b.guest.enter();
        try {
            // Asked inside the use: whoever unbinds, resets or stops waits for the uses to end after saying so.
            DeviceLink link = module.link();
            if (binding != b || !module.live() || link == null) {
                return false;
            }
            if (module.byMessage() && !onLane()) {
                return true;
            }
            boolean more = b.open() && work(b, link);
            if (events.pending()) {
                more |= !events.raise(link);
            }
            return more;
        } catch (GuestMemoryFault f) {
            // Only an interruption comes here: nothing was lost, and the turn is repeated when whoever waits has got
            // through.
            return true;
        } catch (RuntimeException e) {
            // Ours, not the guest's: this context stops, so that it does not fail again and again.
            fail(b);
            throw e;
        } finally {
            b.guest.exit(use);
        }
    }

    /** Carries out actions; returns whether work is left that nobody will announce. */
    private boolean work(Binding b, DeviceLink link) {
        boolean crowded = poll.poller.crowded();
        if (poll.rung) {
            poll.rung = false;
            if (!crowded) {
                awake();
            }
        }
        int next = block.getInt(record + ModuleBlock.CONTEXT_NEXT);
        int first = next;
        Request r = b.request();
        bytes = 0;
        boolean more = false;
        if (outstanding && resumed(r)) {
            report(r, next++);
        }
        if (!outstanding) {
            try {
                int submit = pages().submit(number);
                while (submit != next) {
                    if (Integer.compareUnsigned(submit - next, ContextPage.SLOTS) > 0) {
                        module.tally().badSubmits.increment();
                        fail(b);
                        break;
                    }
                    if (next - first >= ContextPage.SLOTS) {
                        more = true;
                        break;
                    }
                    r.load(pages(), pages().action(number, next));
                    if (!begin(r, link)) {
                        outstanding = !again;
                        more = again || r.done();
                        again = false;
                        break;
                    }
                    report(r, next++);
                    if (submit == next) {
                        submit = pages().submit(number);
                    }
                }
            } finally {
                letGo();
            }
        }
        more |= stepping != null || (outstanding && r.done());
        if (next != first) {
            module.tally().actions.add(next - first);
            module.tally().payloadBytes.add(bytes);
            module.countDone(doneCommand, doneCount);
            doneCount = 0;
            block.setLong(
                    record + ModuleBlock.CONTEXT_ACTIONS,
                    block.getLong(record + ModuleBlock.CONTEXT_ACTIONS) + (next - first));
            poll.sleepWanted = false;
        }
        if (!more && !poll.asleep && (poll.sleepWanted || crowded)) {
            more = !sleep(next);
        }
        return more;
    }

    /** Whether the request that was under way is finished now. */
    private boolean resumed(Request r) {
        if (stepping == null) {
            if (!r.done()) {
                return false;
            }
            if (r.staged && !transfer.take(r)) {
                stepping = transfer.target();
                return false;
            }
        } else if (r.staged) {
            sendPart(r, stepping);
            stepping = null;
            return false;
        } else if (OneSided.step(stepping, r)) {
            stepping = null;
        } else {
            return false;
        }
        outstanding = false;
        waitingAt = null;
        return true;
    }

    /** Starts an action; returns whether it is finished. */
    private boolean begin(Request r, DeviceLink link) {
        int status = r.check();
        if (status != 0) {
            return r.finish(status);
        }
        if (r.command == Action.CMD_NOP) {
            return r.finish(Completion.OK);
        }
        if (!module.offers(r)) {
            return r.finish(Completion.BAD_COMMAND);
        }
        if (!link.busMaster()) {
            return r.finish(Completion.ABORTED);
        }
        MessagingModule target = module.fabric().module(r.targetNode);
        if (target == null || !target.reachable()) {
            return r.finish(Completion.UNREACHABLE);
        }
        if (module.byMessage() || target.byMessage()) {
            return beginStaged(r, target);
        }
        return switch (r.command) {
            case Action.CMD_PUT, Action.CMD_GET -> {
                Ring ring = target.contexts().ring(r.ring);
                yield ring == null ? r.finish(Completion.NO_SUCH_RING) : submit(ring, r);
            }
            case Action.CMD_WRITE, Action.CMD_READ -> {
                boolean finished = OneSided.step(target, r);
                stepping = finished ? null : target;
                yield finished;
            }
            default -> submit(target.atomics(), r);
        };
    }

    /**
     * Starts an action between guests that do not both share their memory.
     *
     * @return whether it is finished, for a reason to be found here; else a later turn ends it
     */
    private boolean beginStaged(Request r, MessagingModule target) {
        letGo();
        if (module.byMessage() && !onLane()) {
            again = true;
            return false;
        }
        try {
            if (r.oneSided()) {
                r.staged = true;
                sendPart(r, target);
                return false;
            }
            SerialTarget place = r.ringed() ? target.contexts().ring(r.ring) : target.atomics();
            int status = place == null ? Completion.NO_SUCH_RING : transfer.stage(r);
            if (status != 0) {
                return r.finish(status);
            }
            if (submit(place, r)) {
                r.answer();
            }
        } catch (GuestMemoryFault f) {
            again = true; // interrupted before anything was moved
        }
        letGo();
        return false;
    }

    private void sendPart(Request r, MessagingModule target) {
        waitingAt = target.copies(); // before it can be there
        transfer.send(r, target);
    }

    private boolean submit(SerialTarget target, Request r) {
        waitingAt = target;
        if (!target.equals(taken)) {
            letGo();
            if (!target.take()) {
                target.queue(r);
                return false;
            }
            taken = target;
        }
        return target.serve(r);
    }

    /** Gives up the target that this turn has taken. */
    private void letGo() {
        SerialTarget target = taken;
        if (target != null) {
            taken = null;
            target.release();
        }
    }

    /** Writes how an action ended. */
    private void report(Request r, int index) {
        block.setInt(record + ModuleBlock.CONTEXT_NEXT, index + 1);
        if (r.status == Completion.OK) {
            bytes += r.resultLength;
            if (r.command != doneCommand) {
                module.countDone(doneCommand, doneCount);
                doneCommand = r.command;
                doneCount = 0;
            }
            doneCount++;
        } else {
            block.count(record + ModuleBlock.CONTEXT_FAILURES);
            module.countFailed(r.status);
        }
        if (r.has(Action.NOTIFY)) {
            events.add();
        }
        pages().complete(number, index, r);
    }

    private void fail(Binding b) {
        if (b.become(ContextState.ERROR)) {
            block.setInt(record + ModuleBlock.CONTEXT_STATE, ContextState.ERROR.value());
            pages().state(number, ContextState.ERROR);
            events.add();
        }
    }

    /** The module polls the context again, and needs no doorbell. */
    private void awake() {
        if (poll.asleep) {
            poll.asleep = false;
            pages().doorbellWanted(number, false);
        }
        poll.sleepWanted = false;
        // Also if it was awake: while the module was stopped, the poller has forgotten it.
        poll.poller.activate(poll);
    }

    /**
     * Stops being polled; returns false if work came meanwhile.
     *
     * <p>The race: here doorbell_wanted is stored, full fence, submit loaded; the process stores submit, full fence, loads
     * doorbell_wanted (bp_flush() in libbackplane). Either the module sees the action, or the process rings.
     */
    private boolean sleep(int next) {
        poll.sleepWanted = false;
        pages().doorbellWanted(number, true);
        VarHandle.fullFence();
        if (!outstanding && pages().submit(number) != next) {
            pages().doorbellWanted(number, false);
            module.tally().lostRaces.increment();
            return false;
        }
        module.tally().sleeps.increment();
        poll.asleep = true;
        return true;
    }

    /** For the client's thread once no turn acts for a binding: what the loop remembers between turns is void. */
    void forget() {
        forgetRequest();
        events.reset();
    }

    /** For the client's thread while the module is stopped: an action under way is started anew later. */
    void forgetRequest() {
        outstanding = false;
        stepping = null;
        transfer.forget();
        again = false;
        waitingAt = null;
    }

    ContextView view(Binding b) {
        return new ContextView(
                number,
                ContextTable.text(b.state()),
                b.generation,
                block.getLong(record + ModuleBlock.CONTEXT_ACTIONS),
                block.getLong(record + ModuleBlock.CONTEXT_FAILURES),
                block.getInt(record + ModuleBlock.CONTEXT_EVENTS),
                outstanding,
                !poll.asleep,
                (int) Arrays.stream(b.memories()).filter(Objects::nonNull).count(),
                b.rings().length);
    }

    /**
     * For the client's thread while the module is stopped: writes a result that has come but was not yet reported. What a
     * target is carrying out and may have carried out already is not done anew: ABORTED.
     */
    void settle() {
        Binding b = binding;
        if (b != null && b.open() && outstanding && stepping == null) {
            Request r = b.request();
            if (r.done() ? transfer.settle(r) : r.claimed && !r.oneSided() && r.finish(Completion.ABORTED)) {
                report(r, block.getInt(record + ModuleBlock.CONTEXT_NEXT));
            }
        }
        if (b != null) {
            b.replaceRequest();
        }
    }

    @Override
    public String toString() {
        return "context " + number + " of " + module;
    }
}
