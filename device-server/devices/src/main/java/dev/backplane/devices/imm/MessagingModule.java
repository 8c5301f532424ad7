// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.devices.layout.PciIds;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The inter-node messaging module of one node (US 9,672,143): its contexts, its rings, its registers.
 *
 * <p>Threads: the methods of {@link PciDevice} come from the client's thread; contexts and rings run on any. The gate
 * between them is {@link #live}: a turn enters a use of the guest's memory, then asks whether the module is live; who
 * resets, detaches or stops says so first and then waits for the uses to end.
 */
public final class MessagingModule implements PciDevice {
    /** Base class 08h, sub-class 80h: other system peripheral (PCI Code and ID Assignment 1.16, 1.9). */
    private static final int CLASS = 0x088000;

    private final MessagingFabric fabric;
    private final Node node;
    private final PciFunction function;
    private final ModuleBlock block;
    private final ModuleCounters counters = new ModuleCounters();
    private final GetPutContext[] contexts;
    private final AtomicReferenceArray<Ring> rings;
    private final Atomics atomics;
    private final EventTable events;
    private final ModuleRegisters registers;
    private final AdminUnit admin;
    private final FailureLoop failure;

    private volatile DeviceLink link;
    private volatile ContextPages pages;
    private volatile ModuleState state = ModuleState.IDLE;
    private volatile boolean stopped;
    private volatile boolean live;

    MessagingModule(MessagingFabric fabric, Node node) {
        this.fabric = fabric;
        this.node = node;
        MessagingConfig config = fabric.config();
        this.function = describe(config);
        this.block = new ModuleBlock(config.contexts(), config.rings());
        this.rings = new AtomicReferenceArray<>(config.rings());
        this.atomics = new Atomics(this);
        this.events = new EventTable(this);
        this.registers = new ModuleRegisters(this);
        this.admin = new AdminUnit(this);
        this.failure = new FailureLoop(this);
        this.contexts = new GetPutContext[config.contexts()];
        for (int n = 0; n < contexts.length; n++) {
            contexts[n] = new GetPutContext(this, n);
        }
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
                        Bar.registers(ImmRegisters.DOORBELL_BAR, config.pageBytes()),
                        Bar.memory(ImmRegisters.CONTEXT_BAR, config.pageBytes())),
                true,
                new PciFunction.Msix(ImmRegisters.VECTORS, 0, ImmRegisters.MSIX_TABLE, ImmRegisters.MSIX_PBA));
    }

    // ---- the device, as the library sees it ----

    @Override
    public PciFunction function() {
        return function;
    }

    @Override
    public void attach(DeviceLink newLink) {
        pages = new ContextPages(
                newLink.mappedBar(ImmRegisters.CONTEXT_BAR), fabric.config().stride());
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
        } else if (bar == ImmRegisters.DOORBELL_BAR && offset / fabric.config().stride() < contexts.length) {
            counters.doorbells.increment();
            contexts[(int) (offset / fabric.config().stride())].doorbell();
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
        link = null;
        pages = null;
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
            if (!l.memory().writable(table, 4L * contexts.length)) {
                fail(ImmRegisters.ERROR_NOT_MAPPED);
                return true;
            }
        } finally {
            l.memory().exit(use);
        }
        become(ModuleState.RUNNING);
        live = !stopped;
        return true;
    }

    private synchronized boolean become(ModuleState next) {
        if (!state.leadsTo(next)) {
            return false;
        }
        state = next;
        block.setInt(ModuleBlock.STATE, next.value());
        return true;
    }

    /** Carries out the command that the driver has prepared. */
    void admin() {
        counters.adminCommands.increment();
        int status = state == ModuleState.RUNNING
                ? admin.carryOut(block.getLong(ModuleBlock.ADMIN_COMMAND))
                : AdminCommand.STATUS_NOT_ENABLED;
        if (status != AdminCommand.STATUS_OK) {
            counters.adminRefused.increment();
        }
        block.setLong(ModuleBlock.ADMIN_RESULT, status == AdminCommand.STATUS_OK ? admin.result() : 0);
        block.setInt(ModuleBlock.ADMIN_STATUS, status);
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
        for (GetPutContext c : contexts) {
            Binding b = c.binding();
            if (b != null) {
                b.become(ContextState.DEAD);
                c.unbind();
                withdraw(b, Completion.UNREACHABLE);
                c.leaveTarget();
            }
        }
        l.memory().awaitUses();
        for (GetPutContext c : contexts) {
            if (block.getInt(block.context(c.number) + ModuleBlock.CONTEXT_STATE) != ContextState.CLOSED.value()) {
                pages.state(c.number, ContextState.DEAD);
            }
            c.forget();
        }
        events.reset(l);
        synchronized (this) {
            state = ModuleState.IDLE;
            block.reset();
        }
        counters.resets.increment();
    }

    // ---- failure ----

    /** Counts a fault of this guest's memory; a broken memory is the end of the module until it is reset. Any thread. */
    void memoryFault(GuestMemoryFault f) {
        counters.memoryFaults.increment();
        if (f.reason() == GuestMemoryFault.Reason.BROKEN) {
            fail(ImmRegisters.ERROR_BROKEN_MEMORY);
        }
    }

    /** Stops the module with an error; the first one counts. Any thread, also inside a use of the memory. */
    void fail(int error) {
        if (become(ModuleState.FAILED)) {
            live = false;
            block.setInt(ModuleBlock.ERROR, error);
            failure.wake();
        }
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
            for (GetPutContext c : contexts) {
                Binding b = c.binding();
                if (b != null && b.become(ContextState.DEAD)) {
                    pages.state(c.number, ContextState.DEAD);
                    for (Ring ring : b.rings()) {
                        ring.withdraw(Completion.UNREACHABLE);
                    }
                }
            }
            events.raiseModule(l, ImmRegisters.EVENT_ERROR);
        } finally {
            l.memory().exit(use);
        }
    }

    // ---- contexts and rings, by the client's thread ----

    Binding open(GetPutContext context) {
        counters.contextsOpened.increment();
        return context.open();
    }

    /** Ends a binding: when it returns, nothing touches its page or its memories any more, and its rings are gone. */
    void close(Binding b) {
        GetPutContext c = b.context;
        b.become(ContextState.CLOSED);
        c.unbind();
        withdraw(b, Completion.NO_SUCH_RING);
        c.leaveTarget();
        link.memory().awaitUses();
        c.forget();
        for (Ring ring : b.rings()) {
            block.clearRing(ring.id);
        }
        block.setInt(block.context(c.number) + ModuleBlock.CONTEXT_STATE, ContextState.CLOSED.value());
        pages.clear(c.number);
        counters.contextsClosed.increment();
    }

    private void withdraw(Binding b, int status) {
        for (Ring ring : b.rings()) {
            rings.set(ring.id, null);
            ring.withdraw(status);
        }
        for (RegisteredMemory memory : b.memories()) {
            if (memory != null) {
                memory.unregister();
            }
        }
    }

    int freeRing() {
        for (int id = 0; id < rings.length(); id++) {
            if (rings.get(id) == null) {
                return id;
            }
        }
        return -1;
    }

    void createRing(
            Binding b,
            int id,
            int flags,
            RegisteredMemory memory,
            long offset,
            long capacity,
            long key,
            NodeSet nodes) {
        long record = block.ring(id);
        block.clearRing(id);
        block.setInt(record + ModuleBlock.RING_STATE, RingState.OPEN.value());
        block.setInt(record + ModuleBlock.RING_FLAGS, flags);
        block.setInt(record + ModuleBlock.RING_CONTEXT, b.context.number);
        block.setInt(record + ModuleBlock.RING_MEMORY, memory.id);
        block.setLong(record + ModuleBlock.RING_OFFSET, offset);
        block.setLong(record + ModuleBlock.RING_CAPACITY, capacity);
        block.setLong(record + ModuleBlock.RING_KEY, key);
        Ring ring = new Ring(this, b, id, memory, nodes);
        ring.open();
        b.put(ring);
        rings.set(id, ring);
    }

    /** Ends a ring: when it returns, nothing touches its memory any more. */
    void destroyRing(Ring ring) {
        rings.set(ring.id, null);
        ring.binding.remove(ring);
        ring.withdraw(Completion.NO_SUCH_RING);
        link.memory().awaitUses();
        ring.writeClosed();
        block.clearRing(ring.id);
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

    /** The ring of that id, which is a process's and hostile, or null. */
    Ring ring(int id) {
        return id >= 0 && id < rings.length() ? rings.get(id) : null;
    }

    /** The context of that number, which may be hostile, or null. */
    GetPutContext context(int n) {
        return n >= 0 && n < contexts.length ? contexts[n] : null;
    }

    ModuleCounters tally() {
        return counters;
    }

    Atomics atomics() {
        return atomics;
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

    void countDone(int command) {
        switch (command) {
            case Action.CMD_PUT -> counters.puts.increment();
            case Action.CMD_GET -> counters.gets.increment();
            case Action.CMD_WRITE, Action.CMD_READ -> counters.oneSided.increment();
            case Action.CMD_FETCH_ADD, Action.CMD_COMPARE_SWAP -> counters.atomics.increment();
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

    @Override
    public String toString() {
        return "messaging module of " + node.name();
    }
}
