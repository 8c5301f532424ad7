// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.imm.Action;
import dev.backplane.devices.imm.AdminCommand;
import dev.backplane.devices.imm.Completion;
import dev.backplane.devices.imm.ContextPage;
import dev.backplane.devices.imm.ImmRegisters;
import dev.backplane.devices.imm.RingHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/** A driver of the messaging module and the process that has its context 0: makes a ring, puts, gets. */
public final class RemoteModule extends RemoteDevice {
    private static final int PAGE = 4096;

    private final long command = allocate(PAGE, PAGE);
    private final long eventTable = allocate(4L * 4096, PAGE);
    private MemorySegment page;
    private final int generation;
    private int submitted;

    /** What came of an action. */
    @SuppressWarnings("ArrayRecordComponent") // compared by no one
    public record Result(int status, byte[] payload) {}

    /** Connects, enables the module and opens context 0. */
    public RemoteModule(Path socket) throws IOException {
        this(socket, true);
    }

    /** @param shared whether the module may access memory by itself; else it has to ask by messages */
    public RemoteModule(Path socket, boolean shared) throws IOException {
        super(socket, 1 << 20, shared);
        write64(ImmRegisters.EVENT_TABLE, eventTable);
        write64(ImmRegisters.ADMIN_COMMAND, command);
        write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        page = mapBar(ImmRegisters.CONTEXT_BAR).asSlice(0, PAGE);
        generation = (int) admin(AdminCommand.OP_CONTEXT_OPEN, 0);
    }

    @Override
    public void moveTo(Path socket) throws IOException {
        super.moveTo(socket);
        page = mapBar(ImmRegisters.CONTEXT_BAR).asSlice(0, PAGE);
    }

    /** Makes a ring of a page that anybody with the key may put to and get from; returns its id. */
    public int createRing(long key) throws IOException {
        long ring = allocate(RingHeader.BYTES + PAGE, PAGE);
        int pages = (RingHeader.BYTES + PAGE) / PAGE;
        long list = allocate(8L * pages, 64);
        for (int i = 0; i < pages; i++) {
            at(list + 8L * i, 8).set(LONG, 0, ring + (long) i * PAGE);
        }
        MemorySegment c = clearedCommand();
        c.set(LONG, AdminCommand.PAGES, list);
        c.set(INT, AdminCommand.PAGE_COUNT, pages);
        c.set(INT, AdminCommand.PAGE_SHIFT, 12);
        c.set(LONG, AdminCommand.SIZE, RingHeader.BYTES + PAGE);
        admin(AdminCommand.OP_MEMORY_REGISTER, generation);
        c = clearedCommand();
        c.set(SHORT, AdminCommand.FLAGS, (short) AdminCommand.RING_SHARED_CONSUMERS);
        c.set(LONG, AdminCommand.SIZE, PAGE);
        c.set(LONG, AdminCommand.KEY, key);
        c.set(INT, AdminCommand.RING, AdminCommand.ANY_RING);
        return (int) admin(AdminCommand.OP_RING_CREATE, generation);
    }

    private MemorySegment clearedCommand() {
        return at(command, AdminCommand.BYTES).fill((byte) 0);
    }

    private long admin(int opcode, int withGeneration) throws IOException {
        MemorySegment c = at(command, AdminCommand.BYTES);
        c.set(SHORT, AdminCommand.OPCODE, (short) opcode);
        c.set(INT, AdminCommand.GENERATION, withGeneration);
        write32(0, ImmRegisters.ADMIN_DOORBELL, 1);
        awaitDevice("command " + opcode, () -> adminStatus() != AdminCommand.STATUS_BUSY);
        assertEquals(AdminCommand.STATUS_OK, adminStatus(), "status of command " + opcode);
        return client().read(0, ImmRegisters.ADMIN_RESULT, 8);
    }

    /** Appends an element to a ring of a node; returns the status. */
    public int put(int node, int ring, long key, byte[] payload) throws IOException {
        MemorySegment.copy(payload, 0, page, ValueLayout.JAVA_BYTE, ContextPage.INLINE_OFFSET, payload.length);
        return run(Action.CMD_PUT, node, ring, key, payload.length).status();
    }

    /** Removes the head of a ring of a node. */
    public Result get(int node, int ring, long key) throws IOException {
        return run(Action.CMD_GET, node, ring, key, ContextPage.INLINE_BYTES / ContextPage.SLOTS);
    }

    private long adminStatus() {
        try {
            return read32(ImmRegisters.ADMIN_STATUS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Result run(int opcode, int node, int ring, long key, int length) throws IOException {
        int index = start(opcode, node, ring, key, length);
        awaitDevice("action " + index, this::finished);
        long completion = ContextPage.COMPLETIONS + (long) (index & (ContextPage.SLOTS - 1)) * Completion.BYTES;
        int status = page.get(INT, completion + Completion.STATUS);
        int bytes = status == Completion.OK ? page.get(INT, completion + Completion.LENGTH) : 0;
        return new Result(status, page.asSlice(ContextPage.INLINE_OFFSET, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Whether all actions are complete. */
    public boolean finished() {
        return (int) WORD.getAcquire(page, (long) ContextPage.COMPLETE) == submitted;
    }

    /** Submits a PUT of nothing, for whose end nobody waits. */
    public void startPut(int node, int ring, long key) throws IOException {
        start(Action.CMD_PUT, node, ring, key, 0);
    }

    private int start(int opcode, int node, int ring, long key, int length) throws IOException {
        int index = submitted++;
        int slot = index & (ContextPage.SLOTS - 1);
        long action = ContextPage.ACTIONS + (long) slot * Action.BYTES;
        page.asSlice(action, Action.BYTES).fill((byte) 0);
        page.set(LONG, action, opcode | (long) node << 16 | (long) ring << 32);
        page.set(LONG, action + Action.KEY, key);
        page.set(LONG, action + Action.LENGTH, (length & 0xffff_ffffL) | (long) Action.INLINE << 32);
        WORD.setRelease(page, (long) ContextPage.SUBMIT, submitted);
        VarHandle.fullFence(); // as bp_submit(): either the module sees submit, or this sees that it wants the doorbell
        if ((int) WORD.getAcquire(page, (long) ContextPage.DOORBELL_WANTED) != 0) {
            ring(ImmRegisters.DOORBELL_BAR, 0);
        }
        return index;
    }
}
