// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Timers;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The output side of one port: its memory output queues, and the loop that fetches second descriptors from them and
 * moves frames out of rendezvous memory (the rendezvous management module of US 8,868,672). Subclasses know what is
 * behind the port.
 *
 * <p>A port has one memory output queue for each lane; a vNIC's lanes are its receive queues, so that one that has no
 * buffers holds up no other. Arbitration between ports is deficit round robin: a turn moves as many bytes as the port's
 * deficit allows, and a port with frames left goes to the end of the line.
 */
public abstract class OutputPort extends DrainLoop {
    /** What became of a frame at the end of the fabric. */
    protected enum Delivery {
        /** Moved out. */
        DONE,
        /** Nothing to move it to now; the port's loop is woken when that changes. */
        BLOCKED,
        /** Given up, and counted by whoever says so. */
        DROPPED
    }

    /** Bytes that a port of weight 1 moves out in a turn. */
    private static final int QUANTUM = 128 * 1024;
    /** Frames that a port of weight 1 moves out in a turn. */
    private static final int FRAMES = 64;

    private static final long FRAME_UNIT = 1L << 32;

    private final FabricCore core;
    private final int index;
    private final String name;
    private final PortConfig config;
    private final PortCounters counters;
    private final OutputQueue[] lanes;
    private final int quotaCells;
    private final AtomicReference<PortState> state = new AtomicReference<>(PortState.DOWN);
    private final WaitQueue waiters;
    private final Timers.Timer stuckTimer;
    private final Pacer pacer;

    /** Queued frames in the upper half, cells charged to this port in the lower. */
    private final AtomicLong held = new AtomicLong();

    /** What was queued in another epoch is not delivered. */
    private volatile int epoch;

    private volatile OutputPort mirror;

    // The loop's own.
    private final Frame frame = new Frame();
    private final Packet packet;
    private final Places freed;
    private long deficit;
    private long blockedSince;
    private boolean blocked;
    private boolean partly;
    private int movedFrames;
    private long movedBytes;
    private int releasedFrames;
    private int releasedCells;

    /**
     * A port, down.
     *
     * @param index its number in the fabric
     * @param lanes number of its memory output queues
     */
    @SuppressWarnings("this-escape") // the waiters and timers only keep the reference; nothing uses it before link()
    protected OutputPort(FabricCore core, int index, String name, PortConfig config, PortCounters counters, int lanes) {
        super(core.workers());
        this.core = core;
        this.index = index;
        this.name = name;
        this.config = config;
        this.counters = counters;
        this.lanes = new OutputQueue[lanes];
        for (int i = 0; i < lanes; i++) {
            this.lanes[i] = core.memory().newQueue();
        }
        long quota = config.quotaBytes() == 0 ? core.config().quotaBytes() : config.quotaBytes();
        this.quotaCells =
                (int) Math.min(quota / core.memory().cellBytes(), core.memory().capacity());
        this.packet = new Packet(core.memory());
        this.freed = new Places(core.memory());
        this.waiters = new PortWaitQueue(this);
        this.stuckTimer = core.timers().timer(this::wakeLater);
        this.pacer = new Pacer(config, core.timers(), this::wakeLater);
    }

    // ---- for subclasses ----

    /** What all ports of the fabric share. */
    protected final FabricCore core() {
        return core;
    }

    /** Starts a turn. Returns whether frames can be moved out at all now. */
    protected abstract boolean beginTurn();

    /**
     * Moves one packet out, all or nothing. A frame makes one packet, or several when the fabric has to segment it; one
     * that is dropped takes those after it along.
     */
    protected abstract Delivery deliver(Packet packet, int lane);

    /** What the port can take in this turn, {@code Offloads.TAKES_*}; all else is done before {@link #deliver}. */
    protected abstract int offloads();

    /** Ends a turn that {@link #beginTurn} started; the frames that were delivered become visible here. */
    protected abstract void endTurn();

    /** The lane for a frame of this flow. Any thread. */
    protected abstract int lane(int flowHash);

    // ---- for the control side ----

    public final int index() {
        return index;
    }

    public final String name() {
        return name;
    }

    public final PortConfig config() {
        return config;
    }

    public final PortCounters counters() {
        return counters;
    }

    public final PortState state() {
        return state.get();
    }

    /** Grows whenever the port goes down; what was queued in an earlier epoch is not delivered. */
    public final int currentEpoch() {
        return epoch;
    }

    /** Frames in the port's memory output queues. */
    public final int queuedFrames() {
        return (int) (held.get() >>> 32);
    }

    /** Cells that are charged to the port. */
    public final int heldCells() {
        return (int) held.get();
    }

    /** Most cells that may be charged to the port. */
    public final int quotaCells() {
        return quotaCells;
    }

    /**
     * Lets frames in; or gives up those that are queued, as soon as the port is woken, and lets none in any more.
     *
     * @return whether that is a change; after going down the caller wakes the port
     */
    protected final synchronized boolean link(boolean up) {
        if (up) {
            return state.compareAndSet(PortState.DOWN, PortState.UP);
        }
        if (state.getAndSet(PortState.DOWN) == PortState.DOWN) {
            return false;
        }
        epoch++;
        waiters.released();
        return true;
    }

    /** Has a copy of every frame from and to this port go to {@code to} as well, a port of the same partition. */
    public final void mirror(OutputPort to) {
        mirror = to;
    }

    // ---- for senders, on any thread ----

    final OutputPort mirror() {
        return mirror;
    }

    final WaitQueue waiters() {
        return waiters;
    }

    /** Whether frames of this kind are wanted here when they are not addressed to the port. */
    protected abstract boolean wantsFlooded(long destination, boolean group);

    final boolean isDown() {
        return state.get() == PortState.DOWN;
    }

    final boolean isStuck() {
        return state.get() == PortState.STUCK;
    }

    /**
     * Charges {@code cells} cells to the port if its share allows: the quota, and no more than what is free in all of
     * rendezvous memory (dynamic thresholds, Choudhury and Hahne 1998), so that however many ports are stuck some of it
     * stays free. A port that holds nothing may always hold one frame.
     */
    final boolean charge(int cells, int frames, int quota) {
        while (true) {
            long now = held.get();
            int c = (int) now;
            if (c != 0 && c + cells > Math.min(quota, core.memory().cells().available())) {
                return false;
            }
            if (held.compareAndSet(now, now + frames * FRAME_UNIT + cells)) {
                return true;
            }
        }
    }

    /** The quota for flooded frames: they never wait, and may go an eighth beyond. */
    final int floodQuota() {
        return quotaCells + quotaCells / 8;
    }

    /** Counts a frame whose cells are charged already. */
    final void chargeFrame() {
        held.getAndAdd(FRAME_UNIT);
    }

    /** Takes a charge back: that of frames which were not queued after all, or of cells for none. */
    final void uncharge(int cells, int frames) {
        if (cells != 0) {
            held.getAndAdd(-(frames * FRAME_UNIT + cells));
            waiters.released();
        }
    }

    /** Queues a second descriptor that is complete. The sender wakes the port afterwards. */
    final void enqueue(int descriptor, int lane) {
        lanes[lane].add(descriptor);
    }

    /** Earliest time at which a frame that is queued now may go out. */
    final long due() {
        return pacer.due();
    }

    // ---- the loop ----

    @Override
    protected final boolean turn() {
        blocked = false;
        boolean more;
        if (isDown()) {
            more = discard();
        } else if (queuedFrames() == 0) {
            more = false;
        } else if (!beginTurn()) {
            blocked = true;
            more = false;
        } else {
            try {
                more = moveOut();
            } finally {
                endTurn();
            }
        }
        release();
        noteProgress();
        return more;
    }

    private boolean moveOut() {
        int budget = FRAMES * config.weight();
        deficit = Math.min(deficit, 0) + (long) QUANTUM * config.weight();
        long now = pacer.idle() ? 0 : core.timers().now();
        for (int lane = 0; lane < lanes.length; lane++) {
            OutputQueue queue = lanes[lane];
            int first;
            while ((first = queue.first()) != 0) {
                if (budget == 0 || deficit <= 0) {
                    return true;
                }
                frame.load(core.memory().segment(), core.memory().descriptorOffset(first));
                if (frame.epoch != epoch) {
                    counters.rxDroppedDown.increment();
                } else {
                    if (now != 0 && !pacer.permits(frame, now)) {
                        break;
                    }
                    Delivery d = deliver(first, lane);
                    if (d == Delivery.BLOCKED) {
                        blocked = true;
                        break;
                    }
                    if (d == Delivery.DONE) {
                        pacer.sent(frame);
                        movedFrames++;
                        movedBytes += frame.length;
                    }
                }
                deficit -= frame.length;
                budget--;
                consume(queue, first);
            }
        }
        deficit = 0;
        return false;
    }

    /** Moves the frame out that was loaded from descriptor {@code first}, in as many packets as the port needs. */
    private Delivery deliver(int first, int lane) {
        boolean tagged = config.vlans().tagged(frame.vlan());
        if (!tagged) {
            frame.vlanTci = 0;
        }
        if (!packet.start(frame, offloads(), tagged)) {
            counters.rxDroppedMalformed.increment();
            return Delivery.DROPPED;
        }
        Delivery d = deliver(packet, lane);
        if (packet.completed()) {
            d = deliverRest(d, first, lane);
        }
        return d;
    }

    /** Goes on after the first attempt with a frame whose packets are completed in software. */
    private Delivery deliverRest(Delivery firstResult, int first, int lane) {
        Delivery d = firstResult;
        int packets = 0;
        while (d == Delivery.DONE) {
            packets++;
            if (!packet.next()) {
                break;
            }
            d = deliver(packet, lane);
        }
        counters.rxChecksummed.add(packets);
        if (d == Delivery.DONE && packet.segmented()) {
            counters.rxSegmented.increment();
        } else if (d == Delivery.BLOCKED && packets != 0) {
            Frame.storeDelivered(core.memory().segment(), core.memory().descriptorOffset(first), packet.index());
            partly = true;
        }
        return d;
    }

    /** The port is down: gives up a bounded number of the frames that are queued. */
    private boolean discard() {
        int budget = 4 * FRAMES;
        int dropped = 0;
        boolean more = false;
        for (OutputQueue queue : lanes) {
            int first;
            while ((first = queue.first()) != 0) {
                if (dropped == budget) {
                    more = true;
                    break;
                }
                frame.load(core.memory().segment(), core.memory().descriptorOffset(first));
                consume(queue, first);
                dropped++;
            }
        }
        counters.rxDroppedDown.add(dropped);
        return more;
    }

    /** Removes the first descriptor of a queue, whose frame this port is done with. */
    private void consume(OutputQueue queue, int first) {
        freed.putBackDescriptor(queue.remove(first));
        releasedFrames++;
        releasedCells += frame.cells;
        if (core.memory().dropReferences(frame.cell, 1)) {
            freed.putBack(frame.cell, frame.cells);
        }
    }

    /** Gives back what the turn has freed, and adds up what it has counted. */
    private void release() {
        if (releasedFrames == 0) {
            return;
        }
        freed.giveBack();
        held.getAndAdd(-(releasedFrames * FRAME_UNIT + releasedCells));
        waiters.released();
        core.waiters().released();
        counters.rxFrames.add(movedFrames);
        counters.rxBytes.add(movedBytes);
        movedFrames = 0;
        movedBytes = 0;
    }

    /** Finds out whether the port is stuck: frames are queued, and for the configured time none has moved out. */
    private void noteProgress() {
        boolean progress = releasedFrames != 0 || partly;
        partly = false;
        releasedFrames = 0;
        releasedCells = 0;
        if (progress && state.compareAndSet(PortState.STUCK, PortState.UP)) {
            blockedSince = 0;
        }
        if (!blocked) {
            blockedSince = 0;
            return;
        }
        long now = core.timers().now();
        if (blockedSince == 0 || progress) {
            counters.rxWaits.increment();
            blockedSince = now;
            stuckTimer.arm(now + core.stuckNanos());
        } else if (now - blockedSince >= core.stuckNanos() && state.compareAndSet(PortState.UP, PortState.STUCK)) {
            counters.stuck.increment();
            waiters.released();
        }
    }

    @Override
    public String toString() {
        return "port " + name;
    }
}
