// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.conformance.Received;
import dev.backplane.vfiouser.conformance.Wire;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory by message: from which thread, what waits for it, and in QEMU's layout of the messages. */
@Timeout(60)
final class MessageDmaTest {
    private static final long BASE = 0x4000_0000L;
    private static final int BYTES = 0x10000;

    private static final String QEMU = "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,"
            + "\"max_dma_maps\":65535,\"pgsizes\":4096,\"write_multiple\":true,\"migration\":{\"pgsize\":4096,"
            + "\"max_bitmap_size\":268435456}}}\0";

    /** No test waits for it: a request that is not answered must not be what ends a wait. */
    private static final Duration LONG = Duration.ofMinutes(5);

    /** A device whose register accesses use guest memory, or wait for those who do, as none should. */
    private static final class RashDevice implements PciDevice {
        static final int READ_MEMORY = 0;
        static final int AWAIT_USES = 8;

        final AtomicReference<GuestMemoryFault.Reason> refused = new AtomicReference<>();
        volatile DeviceLink link;

        @Override
        public PciFunction function() {
            return new PciFunction(0x1b36, 1, 0, 0, 0, 0xff0000, List.of(Bar.registers(0, 4096)), false, null);
        }

        @Override
        public void attach(DeviceLink to) {
            link = to;
        }

        @Override
        public long read(int bar, long offset, int width) {
            return 0;
        }

        @Override
        public void write(int bar, long offset, int width, long value) {
            if (offset == AWAIT_USES) {
                link.memory().awaitUses();
                return;
            }
            try {
                access(link.memory(), false, new byte[16]);
            } catch (GuestMemoryFault e) {
                refused.set(e.reason());
            }
        }

        @Override
        public void reset(ResetKind kind) {
            link.memory().awaitUses();
        }

        @Override
        public void detach() {
            link.memory().awaitUses();
        }
    }

    @TempDir
    private Path temp;

    private final RashDevice device = new RashDevice();
    private VfioUserServer server;
    private RawPeer peer;

    @BeforeEach
    void start() throws IOException {
        Path at = Files.createDirectories(temp.resolve("s")).resolve("sock");
        server = VfioUserServer.listen(device, at, ServerOptions.named("rash").withDmaTimeout(LONG));
    }

    @AfterEach
    void stop() {
        peer.close();
        server.close();
    }

    /** As QEMU negotiates, or as the specification has it. */
    private void connect(boolean likeQemu) {
        peer = RawPeer.connect(server.path());
        peer.ok(
                likeQemu
                        ? Message.command(Wire.VERSION).u16(0).u16(0).bytes(QEMU.getBytes(StandardCharsets.US_ASCII))
                        : Message.version("{\"capabilities\":{\"max_msg_fds\":8}}"));
        peer.ok(Message.dmaMap(3, 0, BASE, BYTES));
    }

    private static byte[] access(GuestMemory memory, boolean write, byte[] data) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = arena.allocate(data.length, 8).copyFrom(MemorySegment.ofArray(data));
            int use = memory.enter();
            try {
                if (write) {
                    memory.write(BASE + 64, s, 0, data.length);
                } else {
                    memory.read(BASE + 64, s, 0, data.length);
                }
            } finally {
                memory.exit(use);
            }
            return s.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private FutureTask<byte[]> start(boolean write, byte[] data) {
        Callable<byte[]> work = () -> access(device.link.memory(), write, data);
        FutureTask<byte[]> task = new FutureTask<>(work);
        Thread.ofPlatform().name("device").start(task);
        return task;
    }

    private long counter(String name) {
        return server.counters().stream()
                .flatMap(g -> g.all().stream())
                .filter(c -> c.name().equals(name))
                .mapToLong(Counter::get)
                .sum();
    }

    @Test
    void theThreadThatServesTheClientNeverWaitsForIt() {
        connect(false);
        peer.ok(Message.write32(0, RashDevice.READ_MEMORY, 1));
        assertEquals(GuestMemoryFault.Reason.WOULD_WAIT, device.refused.get());
        assertEquals(1, counter("memory_waits_refused"));
        peer.nothingPending(); // no request was sent
    }

    @Test
    void whoWaitsForAccessesUnderWayFailsThoseThatAskTheClient() throws Exception {
        connect(false);
        List<Message> waiting = List.of(
                Message.write32(0, RashDevice.AWAIT_USES, 1), Message.reset(), Message.dmaUnmap(0, BASE, BYTES));
        for (Message m : waiting) {
            long failures = counter("dma_failures");
            FutureTask<byte[]> read = start(false, new byte[16]);
            Received request = peer.receive();
            assertEquals(Wire.DMA_READ, request.command());
            peer.ok(m); // answered although the request is not
            ExecutionException e = assertThrows(ExecutionException.class, read::get);
            assertTrue(e.getCause() instanceof GuestMemoryFault, () -> "cause: " + e.getCause());
            assertEquals(failures + 1, counter("dma_failures"));
            peer.send(Message.replyTo(request).u64(BASE + 64).u64(16).bytes(new byte[16])); // too late
            peer.nothingPending();
        }
        peer.ok(Message.dmaMap(3, 0, BASE, BYTES));
        FutureTask<byte[]> next = start(false, new byte[16]);
        Received request = peer.receive();
        peer.send(Message.replyTo(request).u64(BASE + 64).u64(16).bytes(pattern(16)));
        assertArrayEquals(pattern(16), next.get(), "the accesses after it work");
    }

    @Test
    void aClientThatLeavesEndsAccessesUnderWay() throws Exception {
        connect(false);
        FutureTask<byte[]> read = start(false, new byte[16]);
        peer.receive();
        peer.close();
        assertThrows(ExecutionException.class, read::get);
    }

    /** QEMU: a count of 32 bits, the data right after it and four bytes of padding, a bare header as a write's reply. */
    @Test
    void qemusLayoutIsSpoken() throws Exception {
        connect(true);
        for (int bytes : new int[] {1, 4, 7, 64, 4096}) {
            byte[] data = pattern(bytes);
            FutureTask<byte[]> write = start(true, data);
            Received r = peer.receive();
            while (r.command() == Wire.DMA_WRITE && r.u32(8) == 0) {
                peer.send(Message.replyTo(r)); // a write of nothing, by which the server finds out: a bare header
                r = peer.receive();
            }
            assertEquals(Wire.DMA_WRITE, r.command());
            assertEquals(BASE + 64, r.u64(0));
            assertEquals(bytes, r.u32(8));
            assertArrayEquals(data, Arrays.copyOfRange(r.payload(), 12, 12 + bytes), "data at byte 12");
            peer.send(Message.replyTo(r));
            write.get();

            FutureTask<byte[]> read = start(false, new byte[bytes]);
            r = peer.receive();
            assertEquals(Wire.DMA_READ, r.command());
            assertEquals(bytes, r.u32(8));
            peer.send(Message.replyTo(r).u64(BASE + 64).u32(bytes).bytes(data).u32(0));
            assertArrayEquals(data, read.get());
        }
        peer.nothingPending();
        assertEquals(0, counter("dma_failures"));
    }

    /** A read comes first: what the reply looks like tells the layout, unless data is 0 where it would show. */
    @Test
    void qemusLayoutIsRecognisedInItsFirstReply() throws Exception {
        connect(true);
        byte[] data = pattern(64);
        FutureTask<byte[]> read = start(false, new byte[64]);
        Received r = peer.receive();
        while (r.command() == Wire.DMA_WRITE) {
            peer.send(Message.replyTo(r));
            r = peer.receive();
        }
        peer.send(Message.replyTo(r).u64(BASE + 64).u32(64).bytes(data).u32(0));
        assertArrayEquals(data, read.get());
    }

    private static byte[] pattern(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (i * 7 + 1);
        }
        return data;
    }
}
