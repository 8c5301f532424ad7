// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.devices.layout.PciIds;
import dev.backplane.devices.loop.SlowLane;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.device.IoEventDevice;
import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The inter-node messaging module of one node (US 9,672,143): its contexts, its rings, its registers.
 *
 * <p>Threads: the methods of {@link PciDevice} come from the client's thread; contexts and rings run on any. The gate
 * between them is {@link #live}: a turn enters a use of the guest's memory, then asks whether the module is live; who
 * resets, detaches or stops says so first and then waits for the uses to end.
 */
public final class MessagingModule implements IoEventDevice, Migratable {
    /** Base class 08h, sub-class 80h: other system peripheral (PCI Code and ID Assignment 1.16, 1.9). */
    private static final int CLASS = 0x088000;

    private final MessagingFabric fabric;
    private final Node node;
    private final PciFunction function;
    private final ModuleBlock block;
    private final ModuleCounters counters = new ModuleCounters();
    private final ContextTable contexts;
    private final Atomics atomics;
    private final EventTable events;
    private final ModuleRegisters registers;
    private final FailureLoop failure;
    private final CopyTarget copies;
    private final AdminLoop commands;
    private final SlowLane slowLane;

    private volatile DeviceLink link;
    private volatile ContextPages pages;
    private volatile ModuleState state = ModuleState.IDLE;
    private volatile boolean stopped;
    private volatile boolean live;
    private volatile boolean byMessage;

    MessagingModule(MessagingFabric fabric, Node node) {
        this.fabric = fabric;
        this.node = node;
        MessagingConfig config = fabric.config();
        this.function = describe(config);
        this.block = new ModuleBlock(config.contexts(), config.rings());
        this.atomics = new Atomics(this);
        this.events = new EventTable(this);
        this.registers = new ModuleRegisters(this);
        this.failure = new FailureLoop(this);
        this.contexts = new ContextTable(this);
        this.copies = new CopyTarget(this);
        this.commands = new AdminLoop(this);
        this.slowLane = new SlowLane(node.name() + ".imm slow");
    }

    private static PciFunction describe(MessagingConfig config) {
        return new PciFunction(
                PciIds.VENDOR,
                PciIds.MESSAGING_MODULE,
                PciIds.VENDOR,
                PciIds.MESSAGING_MODULE,
                0,
                CLASS,
                List.of(
                        Bar.registers(0, ImmRegisters.BAR_BYTES),
                        Bar.registers(ImmRegisters.DOORBELL_BAR, config.doorbellBytes()),
                        Bar.memory(ImmRegisters.CONTEXT_BAR, config.contextBytes())),
                true,
                new PciFunction.Msix(ImmRegisters.VECTORS, 0, ImmRegisters.MSIX_TABLE, ImmRegisters.MSIX_PBA));
    }

    // ---- the device, as the library sees it ----

    @Override
    public PciFunction function() {
        return function;
    }

    /** The doorbells of the contexts; the library offers a client the first of them. */
    @Override
    public List<IoEvent> ioEvents() {
        return IntStream.range(0, contexts.size())
                .mapToObj(n -> IoEvent.doorbell(
                        ImmRegisters.DOORBELL_BAR, (long) n * fabric.config().stride(), 4))
                .toList();
    }

    @Override
    public void attach(DeviceLink newLink) {
        pages = new ContextPages(
                newLink.mappedBar(ImmRegisters.CONTEXT_BAR), fabric.config().stride());
        newLink.markDeath(ImmRegisters.CONTEXT_BAR, fabric.config().lifeOffset() + LifePage.SERVER);
        link = newLink;
    }

    @Override
    public long read(int bar, long offset, int width) {
        if (bar == 0) {
            return registers.read(offset, width);
        }
        counters.badAccesses.increment();
        return 0;
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
        if (bar == 0) {
            registers.write(offset, width, value);
        } else if (bar == ImmRegisters.DOORBELL_BAR && offset / fabric.config().stride() < contexts.size()) {
            counters.doorbells.increment();
            contexts.context((int) (offset / fabric.config().stride())).doorbell();
        } else {
            counters.badAccesses.increment();
        }
    }

    @Override
    public void reset(ResetKind kind) {
        restart();
    }

    @Override
    public void detach() {
        restart();
        stopped = false;
        link = null;
        pages = null;
    }

    // ---- migration ----

    @Override
    public void stop() {
        stopped = true;
        updateLive();
        commands.exclude();
        try {
            contexts.wakeRings();
            guest().awaitUses();
            contexts.settle();
        } finally {
            commands.admit();
        }
    }

    @Override
    public void resume() {
        stopped = false;
        updateLive();
        contexts.resume();
        commands.wake();
    }

    @Override
    public long stateBytes() {
        return new ModuleImage(this).bytes();
    }

    @Override
    public void save(MemorySegment out) {
        new ModuleImage(this).save(out);
    }

    @Override
    public void restore(MemorySegment in) {
        restart();
        try {
            new ModuleImage(this).restore(in);
        } catch (RuntimeException e) {
            restart();
            throw e;
        }
    }

    /** Takes over the state that has been put into the block. */
    synchronized void adopt(ModuleState restored) {
        state = restored;
        updateLive();
    }

    // ---- registers ----

    ModuleState state() {
        return state;
    }

    /** IDLE to RUNNING, or to FAILED when the event table is not there; returns whether that was possible. */
    boolean enable() {
        if (state != ModuleState.IDLE) {
            return false;
        }
        DeviceLink l = link;
        long table = block.getLong(ModuleBlock.EVENT_TABLE);
        int use = l.memory().enter();
        try {
            if (!l.memory().writable(table, 4L * contexts.size())) {
                fail(ImmRegisters.ERROR_NOT_MAPPED);
                return true;
            }
            if (!l.memory().shared(table, 4L * contexts.size())) {
                if (!l.memory().byMessage()) {
                    fail(ImmRegisters.ERROR_NOT_SHARED);
                    return true;
                }
                goSlow();
            }
        } finally {
            l.memory().exit(use);
        }
        become(ModuleState.RUNNING);
        updateLive();
        return true;
    }

    private synchronized void updateLive() {
        live = state == ModuleState.RUNNING && !stopped && link != null;
    }

    private synchronized boolean become(ModuleState next) {
        if (!state.leadsTo(next)) {
            return false;
        }
        state = next;
        block.setInt(ModuleBlock.STATE, next.value());
        return true;
    }

    // ---- memory that is not shared ----

    /**
     * The guest's memory, or a part of it, is not shared with the server: until the next reset, all that accesses it runs
     * on a lane of its own. By who enables, restores, or carries out commands.
     */
    void goSlow() {
        slowLane.serve(guest());
        runOn(slowLane);
        byMessage = true;
    }

    private void runOn(SlowLane lane) {
        contexts.runOn(lane);
        atomics.runOn(lane);
        copies.runOn(lane);
        commands.runOn(lane);
    }

    /** Whether accesses to the guest's memory may take messages, so that nobody else's thread may make them. */
    boolean byMessage() {
        return byMessage;
    }

    /** Where a new ring's turns run. */
    SlowLane lane() {
        return byMessage ? slowLane : null;
    }

    void clearEvents(int bits) {
        events.clear(link, bits);
    }

    /**
     * The state after power-on, but for epoch and generations. When it returns, nothing touches guest memory or pages or
     * interrupts on behalf of what was before; processes see DEAD in their pages; who waited for this node's rings
     * elsewhere has got UNREACHABLE.
     */
    void restart() {
        live = false;
        DeviceLink l = link;
        if (l == null) {
            return;
        }
        commands.exclude();
        try {
            contexts.kill();
            l.memory().awaitUses();
            contexts.bury();
            events.reset(l);
            synchronized (this) {
                state = ModuleState.IDLE;
                block.reset();
            }
            byMessage = false;
            runOn(null);
        } finally {
            commands.admit();
        }
        counters.resets.increment();
    }

    // ---- failure ----

    /** Counts a fault of this guest's memory; a broken memory is the end of the module until it is reset. Any thread. */
    void memoryFault(GuestMemoryFault f) {
        counters.memoryFaults.increment();
        if (f.reason() == GuestMemoryFault.Reason.BROKEN && live) {
            fail(ImmRegisters.ERROR_BROKEN_MEMORY);
        }
    }

    /** Stops the module with an error; the first one counts. Any thread, also inside a use of the memory. */
    void fail(int error) {
        synchronized (this) {
            if (!state.leadsTo(ModuleState.FAILED)) {
                return;
            }
            // First: who reads that the module has failed reads why after it.
            block.setInt(ModuleBlock.ERROR, error);
            become(ModuleState.FAILED);
            updateLive();
        }
        failure.wake();
    }

    /** Says in all pages, to all who wait, and to the driver, that the module has failed; by {@link FailureLoop}. */
    void announceFailure() {
        DeviceLink l = link;
        if (l == null) {
            return;
        }
        int use = l.memory().enter();
        try {
            if (state != ModuleState.FAILED) {
                return;
            }
            contexts.fail();
            events.raiseModule(l, ImmRegisters.EVENT_ERROR);
        } finally {
            l.memory().exit(use);
        }
    }

    // ---- for contexts, rings and the other modules; any thread ----

    /** Whether contexts and rings may act. */
    boolean live() {
        return live;
    }

    /** Whether it answers other nodes: it is live, and may access its guest's memory. */
    boolean reachable() {
        DeviceLink l = link;
        return live && l != null && l.busMaster();
    }

    /** Whether the driver uses the feature that an action needs. */
    boolean offers(Request r) {
        long features = block.getLong(ModuleBlock.DRIVER_FEATURES);
        return switch (r.command) {
            case Action.CMD_WRITE, Action.CMD_READ -> (features & ImmRegisters.FEATURE_ONE_SIDED) != 0;
            case Action.CMD_FETCH_ADD, Action.CMD_COMPARE_SWAP -> (features & ImmRegisters.FEATURE_ATOMICS) != 0;
            default -> !r.has(Action.WAIT) || (features & ImmRegisters.FEATURE_WAIT) != 0;
        };
    }

    /** Whether a node of that module's partition may act here. */
    boolean admits(MessagingModule source) {
        return source == this || source.node.partition().equals(node.partition());
    }

    ContextTable contexts() {
        return contexts;
    }

    ModuleCounters tally() {
        return counters;
    }

    Atomics atomics() {
        return atomics;
    }

    /** Where READ and WRITE go while the guest's memory is not shared. */
    CopyTarget copies() {
        return copies;
    }

    AdminLoop commands() {
        return commands;
    }

    EventTable events() {
        return events;
    }

    ModuleBlock block() {
        return block;
    }

    ContextPages pages() {
        return pages;
    }

    DeviceLink link() {
        return link;
    }

    /** The guest's memory, or null without a client. */
    GuestMemory guest() {
        DeviceLink l = link;
        return l == null ? null : l.memory();
    }

    MessagingFabric fabric() {
        return fabric;
    }

    void countDone(int command, int n) {
        switch (command) {
            case Action.CMD_PUT -> counters.puts.add(n);
            case Action.CMD_GET -> counters.gets.add(n);
            case Action.CMD_WRITE, Action.CMD_READ -> counters.oneSided.add(n);
            case Action.CMD_FETCH_ADD, Action.CMD_COMPARE_SWAP -> counters.atomics.add(n);
            default -> {}
        }
    }

    void countFailed(int status) {
        switch (status) {
            case Completion.FULL -> counters.full.increment();
            case Completion.EMPTY -> counters.empty.increment();
            case Completion.DENIED -> counters.denied.increment();
            case Completion.UNREACHABLE -> counters.unreachable.increment();
            case Completion.ABORTED -> counters.aborted.increment();
            case Completion.TIMED_OUT -> counters.timeouts.increment();
            default -> counters.refused.increment();
        }
    }

    // ---- views ----

    /** The node that this module belongs to. */
    public Node node() {
        return node;
    }

    /** The module's counters, by the names of the statistics block. */
    public CounterGroup counters() {
        return counters.group();
    }

    /** The contexts that are bound to a process. */
    public List<ContextView> contextViews() {
        return contexts.contextViews();
    }

    /** The rings. */
    public List<RingView> ringViews() {
        return contexts.ringViews();
    }

    /** {@code idle}, {@code running} or {@code failed}. */
    public String stateName() {
        return ContextTable.text(state);
    }

    /** Number of resets so far; what belongs to an older epoch is dropped. */
    public int epoch() {
        return block.getInt(ModuleBlock.EPOCH);
    }

    /** Whether a client is connected. */
    public boolean attached() {
        return link != null;
    }

    @Override
    public String toString() {
        return "messaging module of " + node.name();
    }
}
