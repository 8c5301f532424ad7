// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.sim.SimulatedGuest;

/** Plays the kernel driver of one node's messaging module: registers and privileged commands. One thread at a time. */
final class SimulatedDriver implements AutoCloseable {
    private static final long RAM = 64 << 20;
    private static final int PAGE = 4096;

    final MessagingModule module;
    final SimulatedGuest guest;
    final long eventTable;
    private final long command;
    private final int stride;

    /** Connects a guest to the module and enables it. */
    SimulatedDriver(MessagingModule module) {
        this(module, new SimulatedGuest(RAM));
    }

    private SimulatedDriver(MessagingModule module, SimulatedGuest guest, SimulatedDriver before) {
        this.module = module;
        this.guest = guest;
        this.stride = before.stride;
        this.command = before.command;
        this.eventTable = before.eventTable;
    }

    /** The same driver, in a guest that was moved to another module. */
    static SimulatedDriver restored(MessagingModule module, SimulatedGuest guest, SimulatedDriver before) {
        return new SimulatedDriver(module, guest, before);
    }

    SimulatedDriver(MessagingModule module, SimulatedGuest guest) {
        this.module = module;
        this.guest = guest;
        this.stride = module.fabric().config().stride();
        this.command = guest.allocate(PAGE, PAGE);
        this.eventTable = guest.allocate(4L * module.fabric().config().contexts(), PAGE);
        guest.attach(module);
        enable();
    }

    void enable() {
        guest.at(eventTable, 4L * module.fabric().config().contexts()).fill((byte) 0);
        guest.write64(0, ImmRegisters.DRIVER_FEATURES, guest.read64(0, ImmRegisters.FEATURES));
        guest.write64(0, ImmRegisters.EVENT_TABLE, eventTable);
        guest.write64(0, ImmRegisters.ADMIN_COMMAND, command);
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        assertEquals(1, guest.read32(0, ImmRegisters.STATUS), "the module runs");
    }

    /** A command being filled in. */
    final class Command {
        private Command(int opcode) {
            guest.at(command, AdminCommand.BYTES).fill((byte) 0);
            guest.setShort(command + AdminCommand.OPCODE, opcode);
        }

        Command u16(int at, int value) {
            guest.setShort(command + at, value);
            return this;
        }

        Command u32(int at, int value) {
            guest.setInt(command + at, value);
            return this;
        }

        Command u64(int at, long value) {
            guest.setLong(command + at, value);
            return this;
        }

        Command nodes(int... ids) {
            for (int i = 0; i < ids.length; i++) {
                guest.setShort(command + 1024 + 2L * i, ids[i]);
            }
            return u32(AdminCommand.NODE_COUNT, ids.length).u64(AdminCommand.NODES, command + 1024);
        }

        /** Rings; returns the status, for which it may have to wait. */
        int status() {
            ring();
            TestFabric.await("the command", () -> adminStatus() != AdminCommand.STATUS_BUSY);
            return adminStatus();
        }

        /** Rings only. */
        void ring() {
            guest.write32(0, ImmRegisters.ADMIN_DOORBELL, 1);
        }

        /** Rings, and expects success; returns the result. */
        long ok() {
            assertEquals(AdminCommand.STATUS_OK, status(), "status of the command");
            return guest.read64(0, ImmRegisters.ADMIN_RESULT);
        }
    }

    Command command(int opcode) {
        return new Command(opcode);
    }

    Command command(int opcode, SimulatedProcess p) {
        return command(opcode).u32(AdminCommand.CONTEXT, p.context).u32(AdminCommand.GENERATION, p.generation);
    }

    /** Opens a context for a process. */
    SimulatedProcess open(int context) {
        long generation = command(AdminCommand.OP_CONTEXT_OPEN)
                .u32(AdminCommand.CONTEXT, context)
                .ok();
        return new SimulatedProcess(this, context, (int) generation, stride);
    }

    /** Closes a process's context, as when it dies. */
    void close(SimulatedProcess p) {
        command(AdminCommand.OP_CONTEXT_CLOSE, p).ok();
    }

    /** Registers contiguous memory. */
    void register(SimulatedProcess p, int id, long address, long bytes, int flags, long key) {
        long first = address / PAGE * PAGE;
        int count = (int) ((address + bytes - first + PAGE - 1) / PAGE);
        long[] pages = new long[count];
        for (int i = 0; i < count; i++) {
            pages[i] = first + (long) i * PAGE;
        }
        registerPages(p, id, pages, address - first, bytes, flags, key).ok();
    }

    /** The command that registers memory over a page list. */
    Command registerPages(SimulatedProcess p, int id, long[] pages, long firstOffset, long bytes, int flags, long key) {
        long list = guest.allocate(8L * pages.length);
        for (int i = 0; i < pages.length; i++) {
            guest.setLong(list + 8L * i, pages[i]);
        }
        return command(AdminCommand.OP_MEMORY_REGISTER, p)
                .u16(AdminCommand.FLAGS, flags)
                .u32(AdminCommand.MEMORY, id)
                .u64(AdminCommand.PAGES, list)
                .u32(AdminCommand.PAGE_COUNT, pages.length)
                .u32(AdminCommand.PAGE_SHIFT, 12)
                .u64(AdminCommand.FIRST_OFFSET, firstOffset)
                .u64(AdminCommand.SIZE, bytes)
                .u64(AdminCommand.KEY, key);
    }

    /** Makes a ring in memory of its own, of scattered pages, and the owner's view of it. */
    SimulatedRing ring(SimulatedProcess p, int memory, long capacity, int flags, long key) {
        int pages = (int) ((RingHeader.BYTES + capacity) / PAGE);
        long[] list = scattered(pages);
        registerPages(p, memory, list, 0, RingHeader.BYTES + capacity, 0, 0).ok();
        return ringIn(p, memory, list, capacity, flags, key);
    }

    private SimulatedRing ringIn(SimulatedProcess p, int memory, long[] list, long capacity, int flags, long key) {
        SimulatedRing view = new SimulatedRing(this, list, capacity);
        int id = (int) createRing(p, memory, capacity, flags, key).ok();
        view.id = id;
        return view;
    }

    /** The command that creates a ring at the start of a memory. */
    Command createRing(SimulatedProcess p, int memory, long capacity, int flags, long key) {
        return command(AdminCommand.OP_RING_CREATE, p)
                .u16(AdminCommand.FLAGS, flags)
                .u32(AdminCommand.MEMORY, memory)
                .u64(AdminCommand.SIZE, capacity)
                .u64(AdminCommand.KEY, key)
                .u32(AdminCommand.RING, AdminCommand.ANY_RING)
                .u64(AdminCommand.RING_OFFSET, 0);
    }

    /** Pages as a long-running kernel hands them out: pairs next to each other, the pairs in falling order. */
    long[] scattered(int pages) {
        int pairs = (pages + 1) / 2;
        long base = guest.allocate(2L * pairs * PAGE, PAGE);
        long[] list = new long[pages];
        for (int i = 0; i < pages; i++) {
            list[i] = base + (2L * (pairs - 1 - i / 2) + i % 2) * PAGE;
        }
        return list;
    }

    int status() {
        return guest.read32(0, ImmRegisters.STATUS);
    }

    int adminStatus() {
        return guest.read32(0, ImmRegisters.ADMIN_STATUS);
    }

    long count(String counter) {
        return module.counters().get(counter);
    }

    @Override
    public void close() {
        guest.close();
    }
}
