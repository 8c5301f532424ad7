// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * DMA_READ and DMA_WRITE, the server's own commands, crossing the client's (libvfio-user#279, #466; rust-vmm/vfio#146).
 *
 */
final class DmaReadWriteTest extends ConformanceTest {
    private static final long BASE = 0xfd00_0000L;
    private static final long BYTES = 16 << 20;

    private RawPeer p;
    private GuestMemory memory;

    @BeforeEach
    void map() {
        assumeTrue(system.link().isPresent() || system.windows() == 0, "no way to use guest memory from here");
        p = connect();
        p.ok(Message.version("{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":4096}}"));
        p.ok(Message.dmaMap(3, 0, BASE, BYTES));
        p.ok(Message.dmaMap(Wire.MAP_READ, 0, BASE + BYTES, 0x1000));
        p.ok(Message.command(Wire.REGION_WRITE)
                .u64(4)
                .u32(Wire.CONFIG_REGION)
                .u32(2)
                .u16(6)); // memory space and bus master
        assumeTrue(system.link().isPresent(), "no way to use guest memory from here");
        memory = system.link().orElseThrow().memory();
    }

    @Test
    void aReadIsAskedForByMessage() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE + 0x100, 16));
        Received r = command();
        assertEquals(Wire.DMA_READ, r.command());
        assertEquals(0, r.flags(), "a command that wants an answer");
        assertEquals(Wire.HEADER + 16, r.bytes().length);
        assertEquals(BASE + 0x100, r.u64(0));
        assertEquals(16, r.u64(8));
        byte[] data = "0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        p.send(Message.replyTo(r).u64(BASE + 0x100).u64(16).bytes(data));
        assertArrayEquals(data, read.get());
        p.nothingPending();
    }

    @Test
    void aWriteIsSentByMessage() throws Exception {
        FutureTask<byte[]> write = start(() -> write(BASE + 8, new byte[] {1, 2, 3, 4}));
        Received r = command();
        assertEquals(Wire.DMA_WRITE, r.command());
        assertEquals(0, r.flags());
        assertEquals(BASE + 8, r.u64(0));
        assertEquals(4, r.u64(8));
        assertArrayEquals(new byte[] {1, 2, 3, 4}, java.util.Arrays.copyOfRange(r.payload(), 16, r.payload().length));
        p.send(Message.replyTo(r).u64(BASE + 8).u64(4));
        write.get();
        p.nothingPending();
    }

    @Test
    void longTransfersAreCutToTheClientsLimit() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 10_000));
        byte[] expected = new byte[10_000];
        new java.util.Random(7).nextBytes(expected);
        int done = 0;
        while (done < 10_000) {
            Received r = command();
            assertEquals(Wire.DMA_READ, r.command());
            int n = (int) r.u64(8);
            assertTrue(n <= 4096, "max_data_xfer_size was 4096, the request has " + n);
            int at = (int) (r.u64(0) - BASE);
            p.send(Message.replyTo(r).u64(r.u64(0)).u64(n).bytes(java.util.Arrays.copyOfRange(expected, at, at + n)));
            done += n;
        }
        assertArrayEquals(expected, read.get());
    }

    @Test
    void theClientsCommandsAreAnsweredMeanwhile() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        Received dma = command();
        assertEquals(Wire.DMA_READ, dma.command());
        for (int i = 0; i < 50; i++) {
            // the same id on purpose: messages are matched by direction and id
            p.ok(Message.read(Wire.CONFIG_REGION, 0, 4).id(dma.id()));
            p.fails(Wire.EINVAL, Message.getIrqInfo(99).id(dma.id()));
        }
        assertTrue(!read.isDone());
        p.send(Message.replyTo(dma).u64(BASE).u64(4).u32(0x01020304));
        assertArrayEquals(new byte[] {4, 3, 2, 1}, read.get());
    }

    @Test
    void aCommandThatCrossesIsAnsweredBeforeTheDmaIs() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        Received dma = command();
        Message mine = Message.read(Wire.CONFIG_REGION, 0, 4).id(dma.id());
        p.send(mine).send(Message.replyTo(dma).u64(BASE).u64(4).u32(7)).send(mine);
        assertEquals(Wire.REPLY, p.answer(mine).flags());
        assertEquals(Wire.REPLY, p.answer(mine).flags());
        assertArrayEquals(new byte[] {7, 0, 0, 0}, read.get());
    }

    @Test
    void anErrorOfTheClientFailsTheAccess() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        Received dma = command();
        p.send(Message.replyTo(dma).flags(Wire.REPLY | Wire.ERROR).error(5));
        assertFault(read);
        p.nothingPending();
        FutureTask<byte[]> write = start(() -> write(BASE, new byte[4]));
        dma = command();
        p.send(Message.replyTo(dma).flags(Wire.REPLY | Wire.ERROR).error(19));
        assertFault(write);
        p.nothingPending();
    }

    @Test
    void aWrongAnswerFailsTheAccess() throws Exception {
        for (Message m : new Message[] {
            Message.command(Wire.DMA_READ).u64(BASE).u64(2).u16(7),
            Message.command(Wire.DMA_READ).u64(BASE).u64(8).u64(7),
            Message.command(Wire.DMA_READ).u64(BASE),
            Message.command(Wire.DMA_READ),
            Message.command(Wire.DMA_WRITE).u64(BASE).u64(4).u32(7),
        }) {
            p.close();
            map();
            FutureTask<byte[]> read = start(() -> read(BASE, 4));
            Received dma = command();
            p.send(m.id(dma.id()).flags(Wire.REPLY));
            p.endOfStream();
            assertFault(read);
        }
    }

    @Test
    void aClientThatDiesFailsTheAccess() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        command();
        p.close();
        assertFault(read);
        peer().nothingPending();
    }

    @Test
    void aClientThatNeverAnswersFailsTheAccessAndNothingElse() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        Received dma = command();
        assertFault(read);
        p.nothingPending();
        // too late: the server has given up, and must not take it for the next one's answer
        p.send(Message.replyTo(dma).u64(BASE).u64(4).u32(7));
        p.nothingPending();
        // the device does not wait for this client again, until it is reset
        assertFault(start(() -> read(BASE, 4)));
        p.nothingPending();
        p.ok(Message.reset());
        FutureTask<byte[]> next = start(() -> read(BASE + 64, 4));
        Received second = command();
        assertEquals(BASE + 64, second.u64(0));
        p.send(Message.replyTo(second).u64(BASE + 64).u64(4).u32(9));
        assertArrayEquals(new byte[] {9, 0, 0, 0}, next.get());
    }

    @Test
    void aReadOnlyWindowIsNeverWritten() {
        ExecutionException e = assertThrows(
                ExecutionException.class,
                () -> start(() -> write(BASE + BYTES, new byte[4])).get());
        assertEquals(GuestMemoryFault.Reason.READ_ONLY, ((GuestMemoryFault) e.getCause()).reason());
        p.nothingPending();
    }

    @Test
    void outsideTheWindowsNothingIsAsked() {
        ExecutionException e = assertThrows(
                ExecutionException.class, () -> start(() -> read(BASE - 4, 4)).get());
        assertEquals(GuestMemoryFault.Reason.NOT_MAPPED, ((GuestMemoryFault) e.getCause()).reason());
        p.nothingPending();
    }

    @Test
    void anUnmapDuringAnAccessIsAnsweredOnceTheAccessHasEnded() throws Exception {
        FutureTask<byte[]> read = start(() -> read(BASE, 4));
        Received dma = command();
        Message unmap = Message.dmaUnmap(0, BASE, BYTES);
        p.send(unmap).send(Message.replyTo(dma).u64(BASE).u64(4).u32(7));
        Received r = p.answer(unmap);
        assertEquals(Wire.REPLY, r.flags());
        assertTrue(read.isDone() || awaitEnd(read), "the access has ended");
        p.nothingPending();
    }

    /**
     * The server's next command that transfers something. A server may ask before by a write of nothing how this client
     * lays its messages out, since QEMU has a layout of its own; the answer is the specification's.
     */
    private Received command() {
        Received r = p.receive();
        while (r.command() == Wire.DMA_WRITE && r.u64(8) == 0) {
            p.send(Message.replyTo(r).u64(r.u64(0)).u64(0));
            r = p.receive();
        }
        return r;
    }

    private static boolean awaitEnd(FutureTask<byte[]> task) throws Exception {
        try {
            task.get();
        } catch (ExecutionException e) {
            return e.getCause() instanceof GuestMemoryFault;
        }
        return true;
    }

    private byte[] read(long iova, int bytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = arena.allocate(bytes, 8);
            int use = memory.enter();
            try {
                memory.read(iova, to, 0, bytes);
            } finally {
                memory.exit(use);
            }
            return to.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private byte[] write(long iova, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(data.length, 8).copyFrom(MemorySegment.ofArray(data));
            int use = memory.enter();
            try {
                memory.write(iova, from, 0, data.length);
            } finally {
                memory.exit(use);
            }
            return data;
        }
    }

    private static void assertFault(FutureTask<byte[]> task) {
        ExecutionException e = assertThrows(ExecutionException.class, task::get);
        assertTrue(e.getCause() instanceof GuestMemoryFault, () -> "cause: " + e.getCause());
    }

    private static FutureTask<byte[]> start(Callable<byte[]> work) {
        FutureTask<byte[]> task = new FutureTask<>(work);
        Thread.ofPlatform().name("device").start(task);
        return task;
    }
}
