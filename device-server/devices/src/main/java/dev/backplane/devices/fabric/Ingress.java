// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.DrainLoop;

/**
 * The way into the fabric for one sender: it allocates places, looks at a frame that has been moved into rendezvous
 * memory, chooses the output ports from its destination, and puts second descriptors into their queues.
 *
 * <p>Belongs to one loop and is used in its turns only:
 *
 * <pre>
 *   if (!ready()) return;              still waiting for what an earlier turn asked for
 *   for each frame:
 *     if (!allocate(frame, ...)) break;  no place: the loop is woken when there is one
 *     move the data
 *     switch (forward(frame)): WAIT: break; the frame has no place any more, the loop is woken to move it again
 *   endTurn();
 * </pre>
 */
@SuppressWarnings("ReferenceEquality") // there is one object for each port
public final class Ingress {
    /** What became of a frame. */
    public enum Outcome {
        /** In the queue of its output ports, or dropped by one of them, or nobody wanted it: done with. */
        FORWARDED,
        /** Its output port is full: to be sent again when the loop is woken. */
        WAIT,
        /** Not accepted from this port: source address or VLAN. */
        REFUSED,
        /** Its segmentation fields do not fit its headers. */
        BAD_OFFLOAD
    }

    private static final int NOTHING = 0;
    private static final int MEMORY = 1;
    private static final int PORT = 2;

    private final FabricCore core;
    private final OutputPort source;
    private final ForwardingDomain domain;
    private final DrainLoop owner;
    private final long ownAddress;
    private final RendezvousMemory memory;
    private final Places places;
    private final FlowKey flow = new FlowKey();
    private final GroupSnooper snooper;
    private final IngressCounts counts;

    private Waiter waiter;
    private int waitingFor = NOTHING;
    private OutputPort waitedPort;
    private OutputPort chargedPort;
    private int charge;
    private OutputPort unwoken;
    private int second;

    // The latest lookups, valid as long as the table's version is the same.
    private int cachedVersion = -1;
    private long cachedSource;
    private long cachedDestination;
    private OutputPort cachedPort;

    /**
     * A way in.
     *
     * @param source the port that the frames come from
     * @param owner the loop that is woken when a wait is over
     * @param ownAddress the node's address, for the check of source addresses
     */
    public Ingress(FabricCore core, OutputPort source, ForwardingDomain domain, DrainLoop owner, long ownAddress) {
        this.core = core;
        this.source = source;
        this.domain = domain;
        this.owner = owner;
        this.ownAddress = ownAddress;
        this.memory = core.memory();
        this.places = new Places(memory);
        this.waiter = new Waiter(owner, memory);
        this.snooper =
                domain.groups() == null ? null : new GroupSnooper(domain.groups(), domain.counters(), source.index());
        this.counts = new IngressCounts(source.counters(), domain.counters());
    }

    /** Starts a turn: takes over what was granted meanwhile. False while the loop has to go on waiting. */
    public boolean ready() {
        int now = core.seconds();
        if (now != second) {
            // Once a second the table has to hear again that the address is in use.
            second = now;
            cachedSource = 0;
        }
        if (waitingFor == NOTHING) {
            return true;
        }
        if (waiter.state.get() != Waiter.State.GRANTED) {
            return false;
        }
        if (waitingFor == MEMORY) {
            places.takeOver(waiter.places);
        } else {
            chargedPort = waitedPort;
            charge = waiter.charge;
        }
        waiter.state.set(Waiter.State.IDLE);
        waitingFor = NOTHING;
        return true;
    }

    /**
     * Allocates a place for a frame of {@code bytes} bytes and sets the frame's place; its data may be moved then.
     *
     * @param more frames that may follow in this turn, so that places for them are taken in one go
     * @return false when there is none: the loop is woken when there is
     */
    public boolean allocate(Frame frame, int bytes, int more) {
        int cells = memory.cellsFor(bytes);
        if (!places.has(cells) && !obtain(cells, more)) {
            return false;
        }
        frame.cells = cells;
        frame.cell = places.chain(cells);
        frame.offset = 0;
        frame.length = bytes;
        return true;
    }

    private boolean obtain(int cells, int more) {
        // Whoever waits has precedence over whoever does not yet.
        if (!core.waiters().occupied()) {
            int batch = Math.min(cells + more, Places.CAPACITY);
            if (places.take(batch, batch) || places.take(cells, 1)) {
                return true;
            }
        }
        // Others may need what is left here, and no two senders must wait with a part each.
        giveBackPlaces();
        counts.memoryWaits++;
        await(MEMORY, core.waiters(), cells);
        return false;
    }

    private void await(int reason, WaitQueue queue, int cells) {
        waitingFor = reason;
        waiter.need = cells;
        waiter.state.set(Waiter.State.WAITING);
        queue.enter(waiter);
    }

    /** Gives up the place of a frame that was not forwarded. */
    public void release(Frame frame) {
        places.putBack(frame.cell, frame.cells);
    }

    /**
     * Looks at the frame's headers, in rendezvous memory where its sender cannot change them any more, and queues it
     * for its output ports. In all other cases its place is given up.
     *
     * @param tagged whether the frame's tag is beside it, in {@code vlanTci}; else a tag inside is taken out
     */
    public Outcome forward(Frame frame, boolean tagged) {
        long at = memory.cellOffset(frame.cell) + frame.offset;
        long from = memory.segment().get(FlowKey.BE64, at + 6) >>> 16;
        if (!accept(frame, tagged, from)) {
            counts.refused++;
            release(frame);
            return Outcome.REFUSED;
        }
        at = memory.cellOffset(frame.cell) + frame.offset;
        long to = memory.segment().get(FlowKey.BE64, at) >>> 16;
        flow.parse(memory.segment(), at, Math.min(frame.length, memory.cellBytes() - frame.offset));
        frame.flowHash = flow.hash;
        if (frame.gsoType != 0 && !Offloads.fit(frame, flow)) {
            release(frame);
            return Outcome.BAD_OFFLOAD;
        }
        learn(MacTable.key(frame.vlan(), from));
        if ((to & MacAddressBits.GROUP) != 0) {
            flood(frame, to, true, snoop(frame, at, to));
            return Outcome.FORWARDED;
        }
        OutputPort port = find(MacTable.key(frame.vlan(), to));
        if (port == null) {
            flood(frame, to, false, GroupSnooper.Where.ALL);
            return Outcome.FORWARDED;
        }
        return toOne(frame, port);
    }

    /** Checks the source address and brings the tag beside the frame. */
    private boolean accept(Frame frame, boolean tagged, long from) {
        if ((from & MacAddressBits.GROUP) != 0 || from == 0) {
            return false;
        }
        PortConfig config = source.config();
        if (config.antiSpoofing() && from != ownAddress) {
            return false;
        }
        int tci;
        if (tagged) {
            tci = config.vlans().classify(frame.vlanTci);
        } else if (VlanTag.inside(memory.segment(), memory.cellOffset(frame.cell), frame)) {
            tci = config.vlans().classify(VlanTag.takeOut(memory.segment(), memory.cellOffset(frame.cell), frame));
        } else {
            tci = config.vlans().classifyUntagged();
        }
        frame.vlanTci = tci;
        return tci != VlanPolicy.REFUSED;
    }

    private void learn(long key) {
        int version = domain.table().version();
        if (version != cachedVersion) {
            cachedVersion = version;
            cachedSource = 0;
            cachedDestination = 0;
        }
        if (key == cachedSource) {
            return;
        }
        switch (domain.table().learn(key, source.index(), second)) {
            case KNOWN -> cachedSource = key;
            case ADDED -> domain.counters().learnt.increment();
            case MOVED -> domain.counters().moved.increment();
            case REFUSED -> counts.macRefused++;
        }
    }

    private OutputPort find(long key) {
        if (key != cachedDestination) {
            int index = domain.table().find(key);
            cachedPort = index == MacTable.UNKNOWN ? null : domain.port(index);
            cachedDestination = key;
        }
        return cachedPort;
    }

    private Outcome toOne(Frame frame, OutputPort port) {
        if (port == source || !port.config().vlans().carries(frame.vlan())) {
            counts.noDestination++;
            release(frame);
            return Outcome.FORWARDED;
        }
        if (port.isDown()) {
            counts.unicast++;
            counts.copies++;
            port.counters().rxDroppedDown.increment();
            release(frame);
            return Outcome.FORWARDED;
        }
        if (!room(frame, port)) {
            release(frame);
            if (waitingFor != NOTHING) {
                return Outcome.WAIT;
            }
            counts.unicast++;
            counts.copies++;
            port.counters().rxDroppedStuck.increment();
            return Outcome.FORWARDED;
        }
        counts.unicast++;
        OutputPort in = source.mirror();
        OutputPort out = port.mirror();
        int holders = 1 + (wantsCopy(in, port) ? 1 : 0) + (wantsCopy(out, port) && out != in ? 1 : 0);
        memory.setReferences(frame.cell, holders);
        queue(frame, port);
        if (holders > 1) {
            int rest = holders - 1;
            if (wantsCopy(in, port)) {
                rest -= copy(frame, in, true) ? 1 : 0;
            }
            if (wantsCopy(out, port) && out != in) {
                rest -= copy(frame, out, true) ? 1 : 0;
            }
            drop(frame, rest);
        }
        return Outcome.FORWARDED;
    }

    /** Whether a mirror port gets a copy of its own of a frame that goes to {@code port} and comes from the source. */
    private boolean wantsCopy(OutputPort mirror, OutputPort port) {
        return mirror != null && mirror != port && mirror != source;
    }

    /** Charges the frame to the port. If that cannot be, either begins to wait, or leaves it to be dropped. */
    private boolean room(Frame frame, OutputPort port) {
        if (chargedPort == port && charge >= frame.cells) {
            charge -= frame.cells;
            port.chargeFrame();
            return true;
        }
        boolean stuck = port.isStuck();
        // Whoever waits has precedence over whoever does not yet; for a stuck port nobody waits.
        if ((stuck || !port.waiters().occupied()) && port.charge(frame.cells, 1, port.quotaCells())) {
            return true;
        }
        if (stuck) {
            return false;
        }
        returnCharge();
        counts.portWaits++;
        waitedPort = port;
        await(PORT, port.waiters(), frame.cells);
        return false;
    }

    private GroupSnooper.Where snoop(Frame frame, long at, long to) {
        if (snooper == null || to == MacAddressBits.BROADCAST) {
            return GroupSnooper.Where.ALL;
        }
        int length = Math.min(frame.length, memory.cellBytes() - frame.offset);
        GroupSnooper.Where where = snooper.look(memory.segment(), at, length, frame, to, second);
        counts.snooped += where == GroupSnooper.Where.ALL ? 0 : 1;
        return where;
    }

    /** Whether a port is among those that a multicast frame goes to. */
    private boolean among(GroupSnooper.Where where, OutputPort port) {
        return switch (where) {
            case ALL -> true;
            case MEMBERS -> domain.groups().wanted(snooper.group(), port.index(), second);
            case ROUTERS -> domain.groups().router(snooper.group(), port.index(), second);
        };
    }

    private void flood(Frame frame, long to, boolean group, GroupSnooper.Where where) {
        OutputPort[] ports = domain.ports();
        counts.flooded++;
        // One hold for each port there is, and one for us: what is not used is given up at the end.
        int holds = ports.length + 1;
        memory.setReferences(frame.cell, holds);
        for (OutputPort port : ports) {
            if (port != source
                    && !port.isDown()
                    && port.config().vlans().carries(frame.vlan())
                    && (port == source.mirror() || (port.wantsFlooded(to, group) && among(where, port)))
                    && copy(frame, port, false)) {
                holds--;
            }
        }
        if (holds == ports.length + 1) {
            counts.floodedToNobody++;
        }
        drop(frame, holds);
    }

    /** Queues one more descriptor for a frame; it never waits. Returns whether the port holds the frame now. */
    private boolean copy(Frame frame, OutputPort port, boolean mirror) {
        counts.copies++;
        counts.mirrored += mirror ? 1 : 0;
        if (port.isDown()) {
            port.counters().rxDroppedDown.increment();
            return false;
        }
        if (!port.charge(frame.cells, 1, port.floodQuota())) {
            port.counters().rxDroppedFlooded.increment();
            return false;
        }
        int descriptor = places.descriptor();
        if (descriptor == 0) {
            port.uncharge(frame.cells, 1);
            port.counters().rxDroppedFlooded.increment();
            return false;
        }
        queue(frame, port, descriptor);
        return true;
    }

    private void queue(Frame frame, OutputPort port) {
        counts.copies++;
        queue(frame, port, places.descriptor());
    }

    /** Stores the second descriptor in rendezvous memory, in the memory output queue of the port. */
    private void queue(Frame frame, OutputPort port, int descriptor) {
        frame.epoch = port.currentEpoch();
        frame.due = port.due();
        frame.store(memory.segment(), memory.descriptorOffset(descriptor));
        port.enqueue(descriptor, port.lane(frame.flowHash));
        // Woken once for a run of frames to one port: at the latest when the turn ends.
        if (port != unwoken) {
            wakeLast();
            unwoken = port;
        }
    }

    private void drop(Frame frame, int holds) {
        if (holds != 0 && memory.dropReferences(frame.cell, holds)) {
            release(frame);
        }
    }

    private void wakeLast() {
        if (unwoken != null) {
            unwoken.wake();
            unwoken = null;
        }
    }

    /** Counts a frame that was accepted. */
    public void accepted(int bytes) {
        counts.frames++;
        counts.bytes += bytes;
    }

    /** Counts a frame whose descriptors were bad. */
    public void bad() {
        counts.errors++;
    }

    /** Ends a turn: nothing is held back. */
    public void endTurn() {
        wakeLast();
        returnCharge();
        giveBackPlaces();
        counts.flush();
    }

    /** Gives up a wait, and what it may have brought: the sender's queue has ended. */
    public void cancel() {
        if (waitingFor != NOTHING) {
            if (!waiter.state.compareAndSet(Waiter.State.WAITING, Waiter.State.CANCELLED)) {
                ready();
            } else {
                WaitQueue queue = waitingFor == MEMORY ? core.waiters() : waitedPort.waiters();
                waiter = new Waiter(owner, memory);
                waitingFor = NOTHING;
                queue.released();
            }
        }
        endTurn();
    }

    private void returnCharge() {
        if (charge != 0) {
            chargedPort.uncharge(charge, 0);
            charge = 0;
        }
        chargedPort = null;
    }

    private void giveBackPlaces() {
        if (places.giveBack()) {
            core.waiters().released();
        }
    }
}
