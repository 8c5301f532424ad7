// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.devices.imm.Action;
import dev.backplane.devices.imm.AdminCommand;
import dev.backplane.devices.imm.ContextPage;
import dev.backplane.devices.imm.ImmRegisters;
import dev.backplane.devices.imm.RingHeader;
import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * A node without a guest: this process is driver and user of a messaging module over a real socket. One context, which
 * puts batches of 64-byte messages, and one ring, which takes those of another node.
 */
final class SimulatedMessenger implements AutoCloseable {
    private static final int PAYLOAD = 64;
    private static final long KEY = 7;
    private static final int CAPACITY = 64 << 10;
    private static final long IOVA = 0x4000_0000L;
    private static final int PAGE = 4096;

    // Places in guest memory.
    private static final long COMMAND = 0;
    private static final long EVENTS = PAGE;
    private static final long PAGES = 5 * PAGE;
    private static final long RING = 6 * PAGE;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final VfioUserClient client;
    private final Arena arena = Arena.ofShared();
    private final ClientMemory.Block block;
    private final MemorySegment memory;
    private final MemorySegment page;
    private int submitted;
    private int taken;

    SimulatedMessenger(Path socket) throws IOException {
        client = VfioUserClient.connect(socket);
        block = ClientMemory.allocate(RING + RingHeader.BYTES + CAPACITY);
        memory = block.memory();
        client.memory().map(IOVA, block);
        // Memory space and bus master enable (PCIe 6.2, 7.5.1.1.3).
        client.write(VfioUserClient.CONFIG, 4, 2, 6);
        client.write(0, ImmRegisters.EVENT_TABLE, 8, IOVA + EVENTS);
        client.write(0, ImmRegisters.ADMIN_COMMAND, 8, IOVA + COMMAND);
        client.writeInt(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        page = client.map(ImmRegisters.CONTEXT_BAR, 0, arena).asSlice(0, ContextPage.BYTES);
        memory.setAtIndex(ValueLayout.JAVA_INT, (COMMAND + AdminCommand.CONTEXT) / 4, 0);
        long generation = command(AdminCommand.OP_CONTEXT_OPEN);
        int pages = (RingHeader.BYTES + CAPACITY) / PAGE;
        for (int i = 0; i < pages; i++) {
            memory.set(ValueLayout.JAVA_LONG, PAGES + 8L * i, IOVA + RING + (long) i * PAGE);
        }
        field32(AdminCommand.GENERATION, (int) generation);
        field64(AdminCommand.PAGES, IOVA + PAGES);
        field32(AdminCommand.PAGE_COUNT, pages);
        field32(AdminCommand.PAGE_SHIFT, 12);
        field64(AdminCommand.SIZE, RingHeader.BYTES + CAPACITY);
        command(AdminCommand.OP_MEMORY_REGISTER);
        field64(AdminCommand.SIZE, CAPACITY);
        field64(AdminCommand.KEY, KEY);
        field32(AdminCommand.RING, 0);
        memory.set(ValueLayout.JAVA_LONG, RING + RingHeader.NOTIFY_EVENT, -1L);
        command(AdminCommand.OP_RING_CREATE);
        memory.set(ValueLayout.JAVA_LONG, RING + RingHeader.NOTIFY_EVENT, -1L);
    }

    private void field32(int at, int value) {
        memory.set(ValueLayout.JAVA_INT, COMMAND + at, value);
    }

    private void field64(int at, long value) {
        memory.set(ValueLayout.JAVA_LONG, COMMAND + at, value);
    }

    private long command(int opcode) throws IOException {
        memory.set(ValueLayout.JAVA_SHORT, COMMAND + AdminCommand.OPCODE, (short) opcode);
        client.writeInt(0, ImmRegisters.ADMIN_DOORBELL, 1);
        int status = client.readInt(0, ImmRegisters.ADMIN_STATUS);
        if (status != AdminCommand.STATUS_OK) {
            throw new IOException("command " + opcode + " of the messaging module: status " + status);
        }
        return client.read(0, ImmRegisters.ADMIN_RESULT, 8);
    }

    /** Fills all slots with a PUT to ring 0 of a node. */
    void target(int node) {
        for (int slot = 0; slot < ContextPage.SLOTS; slot++) {
            long at = ContextPage.ACTIONS + (long) slot * Action.BYTES;
            page.set(ValueLayout.JAVA_BYTE, at + Action.COMMAND, (byte) Action.CMD_PUT);
            page.set(ValueLayout.JAVA_SHORT, at + Action.TARGET_NODE, (short) node);
            page.set(ValueLayout.JAVA_INT, at + Action.RING, 0);
            page.set(ValueLayout.JAVA_LONG, at + Action.KEY, KEY);
            page.set(ValueLayout.JAVA_INT, at + Action.LENGTH, PAYLOAD);
            page.set(ValueLayout.JAVA_INT, at + Action.MEMORY, Action.INLINE);
            page.set(ValueLayout.JAVA_LONG, at + Action.OFFSET, (long) slot * PAYLOAD);
        }
    }

    /** Submits all slots; returns how many they are. */
    int put() throws IOException {
        submitted += ContextPage.SLOTS;
        INT.setRelease(page, (long) ContextPage.SUBMIT, submitted);
        // As bp_flush(): either the module sees submit, or this sees that the doorbell is wanted.
        VarHandle.fullFence();
        if ((int) INT.getAcquire(page, (long) ContextPage.DOORBELL_WANTED) != 0) {
            client.writeInt(ImmRegisters.DOORBELL_BAR, 0, 1);
        }
        return ContextPage.SLOTS;
    }

    /** Messages that have been completed since the last call. */
    int completed() {
        int now = (int) INT.getAcquire(page, (long) ContextPage.COMPLETE);
        int n = now - taken;
        taken = now;
        return n;
    }

    int inFlight() {
        return submitted - taken;
    }

    /** Consumes all that is in the ring. */
    void consume() {
        long tail = (long) LONG.getAcquire(memory, RING + RingHeader.TAIL);
        LONG.setRelease(memory, RING + RingHeader.HEAD, tail);
    }

    @Override
    public void close() {
        client.close();
        arena.close();
        block.close();
    }
}
