// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.memory.GuestCursor;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * A ring buffer in this node's memory, as the target of PUT and GET: the place where producers and consumers from all
 * nodes are put in one order, rights are checked, and waits are kept.
 *
 * <p>Waits are fair: who comes while others wait goes behind them, or gets FULL or EMPTY at once if it does not want to
 * wait.
 */
final class Ring extends SerialTarget {
    /** Longest wait of an action, whatever it asks for, in microseconds. */
    static final long MAX_WAIT_MICROS = 10_000_000;

    /**
     * How often the owner's head is looked at while a PUT waits for room and the owner does not ring its doorbell when
     * it consumes, in nanoseconds.
     */
    private static final long LOOK_NANOS = 1_000_000;

    private static final int SERVED_IN_A_TURN = 32;

    /** Not a status: the request stays in a wait list. */
    private static final int HELD = -2;

    final MessagingModule owner;
    final Binding binding;
    final int id;
    final RegisteredMemory memory;
    final NodeSet nodes;

    private final int flags;
    private final long key;
    private final ModuleBlock block;
    private final long record;
    private final RingBuffer buffer;
    private final GuestCursor cursor = new GuestCursor();
    private final WaitList putters = new WaitList();
    private final WaitList getters = new WaitList();
    private final Timers timers;
    private Timers.Timer timer;

    private volatile RingState state = RingState.OPEN;
    private volatile int closeStatus;
    /** Whether a PUT waits for the owner to consume; read by the owner's doorbell and the pollers. */
    private volatile boolean wantsSpace;
    /** Whether anything waits here; for views. */
    private volatile boolean waiters;
    /** Belongs to the loop: no wait ends before. */
    private long earliestEnd = Long.MAX_VALUE;
    /** Belongs to the loop: whether the owner's memory is in use for several requests, and the token of that use. */
    private boolean held;

    private int heldUse;
    /** Belong to the loop: elements that were appended and removed, and not counted yet. */
    private int appended;

    private int removed;
    /** Belongs to the loop: waiting requests may be served now. */
    private boolean served;

    /** The ring whose record is filled in. */
    Ring(MessagingModule owner, Binding binding, int id, RegisteredMemory memory, NodeSet nodes) {
        super(owner.fabric().workers());
        runOn(owner.lane());
        this.owner = owner;
        this.binding = binding;
        this.id = id;
        this.memory = memory;
        this.nodes = nodes;
        this.block = owner.block();
        this.record = block.ring(id);
        this.flags = block.getInt(record + ModuleBlock.RING_FLAGS);
        this.key = block.getLong(record + ModuleBlock.RING_KEY);
        this.buffer = new RingBuffer(block, record, memory, shared());
        this.timers = owner.fabric().timers();
    }

    RingState state() {
        return state;
    }

    RingView view() {
        long tail = block.getLong(record + ModuleBlock.RING_TAIL);
        return new RingView(
                id,
                ContextTable.text(state),
                binding.context.number,
                block.getLong(record + ModuleBlock.RING_CAPACITY),
                tail - block.getLong(record + ModuleBlock.RING_HEAD),
                shared(),
                block.getLong(record + ModuleBlock.RING_SEQUENCE),
                block.getLong(record + ModuleBlock.RING_REMOVED),
                block.getLong(record + ModuleBlock.RING_REFUSED),
                waiters);
    }

    private boolean shared() {
        return (flags & AdminCommand.RING_SHARED_CONSUMERS) != 0;
    }

    /** Whether a PUT waits until the owner's process consumes. */
    boolean wantsSpace() {
        return wantsSpace;
    }

    /** Writes the header of a new ring; by the client's thread, before anybody can find the ring. */
    void open() {
        int use = binding.guest.enter();
        try {
            cursor.use(binding.guest);
            buffer.open(cursor, id);
        } finally {
            binding.guest.exit(use);
        }
    }

    /**
     * Ends the ring: what waits here, and what comes, ends with {@code status}. Once the uses of the owner's memory that
     * run now have ended, nothing touches the ring.
     */
    void withdraw(int status) {
        if (become(RingState.CLOSED, status)) {
            wake();
        }
    }

    private synchronized boolean become(RingState next, int status) {
        if (!state.leadsTo(next)) {
            return false;
        }
        closeStatus = status;
        state = next;
        return true;
    }

    /** Makes a ring that was corrupt when it was saved corrupt again; before anybody can find it. */
    void restoreCorrupt() {
        become(RingState.CORRUPT, Completion.RING_CORRUPT);
    }

    /** Writes that the ring is closed; by the client's thread, once nothing else touches it. */
    void writeClosed() {
        int use = binding.guest.enter();
        try {
            cursor.use(binding.guest);
            buffer.state(cursor, RingState.CLOSED);
        } catch (GuestMemoryFault f) {
            owner.memoryFault(f);
        } finally {
            binding.guest.exit(use);
        }
    }

    @Override
    protected void hold() {
        heldUse = binding.guest.enter();
        cursor.use(binding.guest);
        held = true;
    }

    @Override
    protected void unhold() {
        held = false;
        binding.guest.exit(heldUse);
        count();
    }

    @Override
    protected Outcome carryOut(Request r) {
        if (held) {
            return carryOutInUse(r);
        }
        GuestMemory guest = binding.guest;
        int use = guest.enter();
        try {
            cursor.use(guest);
            return carryOutInUse(r);
        } finally {
            guest.exit(use);
            count();
        }
    }

    private void count() {
        if (appended != 0) {
            owner.tally().ringElementsIn.add(appended);
            appended = 0;
        }
        if (removed != 0) {
            owner.tally().ringElementsOut.add(removed);
            removed = 0;
        }
    }

    private Outcome carryOutInUse(Request r) {
        int status = 0;
        try {
            status = buffer.interrupted(r) ? goOn() : admit(r);
            if (status == 0) {
                status = r.command == Action.CMD_PUT ? put(r) : get(r);
            }
        } catch (GuestMemoryFault f) {
            status = f.reason() == GuestMemoryFault.Reason.INTERRUPTED ? RingBuffer.MORE : blame(r, f);
        } finally {
            if (status > Completion.OK && state == RingState.OPEN) {
                block.count(record + ModuleBlock.RING_REFUSED);
            }
        }
        if (status == RingBuffer.MORE) {
            return Outcome.MORE;
        }
        if (buffer.takeNotify()) {
            binding.context.event();
        }
        if (status == HELD) {
            return Outcome.HELD;
        }
        r.finish(status);
        return Outcome.FINISHED;
    }

    /** Whether an append that was interrupted may be finished: 0, or the status to end with. */
    private int goOn() {
        if (state == RingState.OPEN && owner.live()) {
            return 0;
        }
        buffer.giveUp();
        return state == RingState.OPEN ? Completion.ABORTED : closeStatus;
    }

    /** The rights of the request, checked at the target: 0, or the status to end with. */
    private int admit(Request r) {
        if (state != RingState.OPEN) {
            return closeStatus;
        }
        if (!owner.reachable()) {
            return Completion.UNREACHABLE;
        }
        if (r.bereft()) {
            return Completion.NO_SUCH_MEMORY;
        }
        MessagingModule source = r.binding.context.module;
        boolean mayPut = source == owner || (flags & AdminCommand.RING_READ_ONLY) == 0;
        boolean mayGet = shared() && (source == owner || (flags & AdminCommand.RING_WRITE_ONLY) == 0);
        if (r.key != key
                || !owner.admits(source)
                || !nodes.contains(source.node().id())
                || !(r.command == Action.CMD_PUT ? mayPut : mayGet)) {
            owner.tally().ringDenied.increment();
            return Completion.DENIED;
        }
        return 0;
    }

    private int put(Request r) {
        int status = putters.isEmpty() || r.waiting ? buffer.append(r, cursor) : Completion.FULL;
        if (status == Completion.FULL && r.has(Action.WAIT)) {
            if (!shared() && !wantsSpace) {
                wantsSpace = true;
                served = true;
                buffer.wantSpace(cursor, true);
                status = buffer.append(r, cursor);
            }
            if (status == Completion.FULL) {
                return hold(r, putters);
            }
        }
        if (status == Completion.FULL && !shared()) {
            buffer.refused(cursor, block.getLong(record + ModuleBlock.RING_REFUSED) + 1);
        }
        if (status == Completion.OK) {
            appended++;
            served |= !getters.isEmpty();
        } else if (status == Completion.RING_CORRUPT) {
            corrupt();
        }
        return status;
    }

    private int get(Request r) {
        int status = getters.isEmpty() || r.waiting ? buffer.remove(r, cursor) : Completion.EMPTY;
        if (status == Completion.OK) {
            removed++;
            served |= !putters.isEmpty();
        } else if (status == Completion.EMPTY && r.has(Action.WAIT)) {
            return hold(r, getters);
        } else if (status == Completion.RING_CORRUPT) {
            corrupt();
        }
        return status;
    }

    private int hold(Request r, WaitList list) {
        if (!r.waiting) {
            r.waiting = true;
            long micros = Long.compareUnsigned(r.operand, MAX_WAIT_MICROS) < 0 ? r.operand : MAX_WAIT_MICROS;
            r.deadline = timers.now() + micros * 1000;
            r.binding.context.module.tally().waits.increment();
            list.add(r);
            earliestEnd = Math.min(earliestEnd, r.deadline);
            // The next turn sets the timer.
            served = true;
        }
        return HELD;
    }

    /** Whose fault a fault is: the initiator's payload may be gone, else it is the owner who broke the ring. */
    private int blame(Request r, GuestMemoryFault f) {
        buffer.giveUp();
        if (!r.staged && r.memory != null && !r.memory.accessible(r.offset, r.length, r.command == Action.CMD_GET)) {
            r.binding.context.module.memoryFault(f);
            return Completion.BAD_ADDRESS;
        }
        owner.memoryFault(f);
        corrupt();
        return Completion.RING_CORRUPT;
    }

    /** The owner broke its ring: closed for it, and nobody else is hurt. */
    private void corrupt() {
        if (!become(RingState.CORRUPT, Completion.RING_CORRUPT)) {
            return;
        }
        owner.tally().ringCorrupt.increment();
        block.setInt(record + ModuleBlock.RING_STATE, RingState.CORRUPT.value());
        served = true;
        try {
            buffer.state(cursor, RingState.CORRUPT);
        } catch (GuestMemoryFault f) {
            // The memory is what is broken: the owner learns it from its actions.
            owner.memoryFault(f);
        }
        binding.context.event();
    }

    @Override
    protected boolean needsTurn() {
        return served;
    }

    /** Serves the wait lists, and ends what has waited too long or has nobody any more. */
    @Override
    protected boolean attend() {
        served = false;
        boolean sweep = takeSweep();
        if (putters.isEmpty() && getters.isEmpty()) {
            if (wantsSpace) {
                settle();
            }
            return false;
        }
        if (state != RingState.OPEN || !owner.reachable()) {
            int status = state == RingState.OPEN ? Completion.UNREACHABLE : closeStatus;
            endAll(putters, status);
            endAll(getters, status);
        } else {
            serve(putters);
            serve(getters);
            long now = timers.now();
            if (sweep || now >= earliestEnd) {
                expire(putters.removeEnded(now));
                expire(getters.removeEnded(now));
                earliestEnd = Math.min(putters.deadline(), getters.deadline());
            }
        }
        settle();
        return served;
    }

    private void serve(WaitList list) {
        for (int i = 0; !list.isEmpty() && !busy(); i++) {
            if (i == SERVED_IN_A_TURN) {
                served = true;
                return;
            }
            // Out of the list first: once finished, the request is its context's again, and may come back at once.
            Request r = list.removeFirst();
            Outcome outcome = attempt(r);
            if (outcome == Outcome.HELD) {
                list.addFirst(r);
                return;
            }
            if (outcome == Outcome.MORE) {
                goOnWith(r);
            }
        }
    }

    private void endAll(WaitList list, int status) {
        while (!list.isEmpty()) {
            end(list.removeFirst(), status);
        }
    }

    private void expire(Request ended) {
        Request r = ended;
        while (r != null) {
            Request following = r.next;
            r.next = null;
            end(r, Completion.TIMED_OUT);
            r = following;
        }
    }

    /** Nobody waits for room any more, or somebody still does: says so to the owner, and to the timer. */
    private void settle() {
        waiters = !putters.isEmpty() || !getters.isEmpty();
        if (wantsSpace && putters.isEmpty()) {
            wantsSpace = false;
            clearWish();
        }
        if (!waiters) {
            earliestEnd = Long.MAX_VALUE;
            return;
        }
        if (timer == null) {
            timer = timers.timer(this::wakeLater);
        }
        timer.arm(putters.isEmpty() || shared() ? earliestEnd : Math.min(earliestEnd, timers.now() + LOOK_NANOS));
    }

    private void clearWish() {
        int use = binding.guest.enter();
        try {
            if (state == RingState.OPEN && owner.reachable()) {
                cursor.use(binding.guest);
                buffer.wantSpace(cursor, false);
            }
        } catch (GuestMemoryFault f) {
            owner.memoryFault(f);
        } finally {
            binding.guest.exit(use);
        }
    }
}
