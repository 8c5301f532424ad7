// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.memory.MapRefusedException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A guest truncates the file behind its memory, or unmaps what it has registered: only its own module suffers. */
@Timeout(60)
class BrokenMemoryTest {
    private static final long WINDOW = 0x9_0000_0000L;
    private static final int BYTES = 64 << 10;

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofShared();
    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;
    private SimulatedProcess process;
    private SimulatedProcess owner;
    private SimulatedProcess bystander;
    private SimulatedRing ring;
    private SimulatedRing quiet;

    @BeforeEach
    void connect() {
        net = new TestFabric();
        one = net.node(1);
        two = net.node(2);
        SimulatedDriver three = net.node(3);
        process = one.open(0);
        owner = two.open(0);
        bystander = three.open(0);
        ring = two.ring(owner, 0, 16_384, 0, KEY);
        quiet = three.ring(bystander, 0, 16_384, 0, KEY);
    }

    @AfterEach
    void disconnect() {
        net.close();
        arena.close();
    }

    private FileChannel window(SimulatedDriver d) throws IOException, MapRefusedException {
        FileChannel file = FileChannel.open(
                directory.resolve("ram" + d.module.node().id()),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        d.guest.memory().map(WINDOW, file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena));
        return file;
    }

    private void bystanderWorks() {
        assertEquals(
                Completion.OK,
                bystander.put(3, quiet.id, KEY).inline(new byte[64]).run().status());
        quiet.poll();
    }

    @Test
    void truncatedSourceFailsTheInitiatorAlone() throws Exception {
        try (FileChannel file = window(one)) {
            one.register(process, 0, WINDOW, BYTES, 0, 0);
            assertEquals(
                    Completion.OK,
                    process.put(2, ring.id, KEY).memory(0, 0, 4000).run().status());
            file.truncate(0);
            process.put(2, ring.id, KEY).memory(0, 0, 4000).submit();
            TestFabric.await("failure of the initiator", () -> one.status() == ImmRegisters.STATE_FAILED);
            assertEquals(ImmRegisters.ERROR_BROKEN_MEMORY, one.guest.read32(0, ImmRegisters.ERROR));
            TestFabric.await("state DEAD", () -> process.state() == ContextPage.STATE_DEAD);
            one.guest.interrupts().await(0, 1);
            assertEquals(ImmRegisters.STATE_RUNNING, two.status());
            assertEquals(RingHeader.STATE_OPEN, ring.state());
            assertEquals(
                    Completion.OK,
                    bystander.put(2, ring.id, KEY).inline(new byte[64]).run().status());
            bystanderWorks();
        }
    }

    @Test
    void sharingThatIsTakenAwayHurtsTheInitiatorAlone() throws Exception {
        window(one).close();
        one.register(process, 0, WINDOW, BYTES, 0, 0);
        one.guest.memory().unmap(WINDOW, BYTES);
        one.guest.memory().map(WINDOW, BYTES, null, true, () -> {});
        assertEquals(
                Completion.BAD_ADDRESS,
                process.put(2, ring.id, KEY).memory(0, 0, 4000).run().status());
        assertEquals(RingHeader.STATE_OPEN, ring.state());
        assertEquals(
                Completion.OK,
                bystander.put(2, ring.id, KEY).inline(new byte[64]).run().status());
    }

    @Test
    void truncatedRingFailsItsOwnerAlone() throws Exception {
        try (FileChannel file = window(two)) {
            long[] pages = new long[5];
            for (int i = 0; i < pages.length; i++) {
                pages[i] = WINDOW + i * 4096L;
            }
            two.registerPages(owner, 1, pages, 0, 5 * 4096, 0, 0).ok();
            int id = (int) two.createRing(owner, 1, 16_384, 0, KEY).ok();
            long mine = one.guest.allocate(8192, 4096);
            one.register(process, 0, mine, 8192, 0, 0);
            assertEquals(
                    Completion.OK,
                    process.put(2, id, KEY).memory(0, 0, 4000).run().status());
            file.truncate(0);
            int status = process.put(2, id, KEY).memory(0, 0, 4000).run().status();
            assertTrue(status == Completion.RING_CORRUPT || status == Completion.UNREACHABLE, "status " + status);
            TestFabric.await("failure of the owner", () -> two.status() == ImmRegisters.STATE_FAILED);
            assertEquals(
                    Completion.UNREACHABLE,
                    process.put(2, ring.id, KEY).room(8).run().status());
            assertEquals(ImmRegisters.STATE_RUNNING, one.status());
            assertEquals(
                    Completion.OK,
                    process.put(3, quiet.id, KEY).memory(0, 0, 4000).run().status());
            quiet.poll();
            bystanderWorks();
        }
    }

    @Test
    void unmappedMemoryEndsTheActionOrTheRing() throws Exception {
        try (FileChannel file = window(one);
                FileChannel other = window(two)) {
            one.register(process, 0, WINDOW, BYTES, 0, 0);
            long[] pages = {WINDOW, WINDOW + 4096, WINDOW + 8192};
            two.registerPages(owner, 1, pages, 0, 3 * 4096, 7, KEY).ok();
            int id = (int) two.createRing(owner, 1, 8192, 0, KEY).ok();
            assertEquals(
                    Completion.OK,
                    process.put(2, id, KEY).memory(0, 0, 100).run().status());
            one.guest.memory().unmap(WINDOW, BYTES);
            assertEquals(
                    Completion.BAD_ADDRESS,
                    process.put(2, id, KEY).memory(0, 0, 100).run().status());
            assertEquals(Completion.OK, process.put(2, id, KEY).room(100).run().status());
            two.guest.memory().unmap(WINDOW, BYTES);
            assertEquals(
                    Completion.RING_CORRUPT,
                    process.put(2, id, KEY).room(100).run().status());
            assertEquals(
                    Completion.BAD_ADDRESS,
                    process.action(Action.CMD_READ, 2, 1, KEY).room(8).run().status());
            assertEquals(ImmRegisters.STATE_RUNNING, one.status());
            assertEquals(ImmRegisters.STATE_RUNNING, two.status());
            assertTrue(file.isOpen() && other.isOpen());
        }
    }

    @Test
    void memoryWithoutAFileIsRefused() throws Exception {
        one.guest.memory().map(WINDOW, BYTES, null, true, () -> {});
        assertEquals(
                AdminCommand.STATUS_BAD_ADDRESS,
                one.registerPages(process, 0, new long[] {WINDOW}, 0, 4096, 0, 0)
                        .status());
        one.guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        one.guest.write64(0, ImmRegisters.EVENT_TABLE, WINDOW);
        one.guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        assertEquals(ImmRegisters.STATE_FAILED, one.status());
        assertEquals(ImmRegisters.ERROR_NOT_SHARED, one.guest.read32(0, ImmRegisters.ERROR));
    }
}
