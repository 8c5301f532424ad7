// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.example.CopyDevice;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.pci.PciFunction;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.SendLock;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.protocol.StreamException;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The socket's life: whose it is, what it replaces, who is served. */
class VfioUserServerTest {
    @TempDir
    private Path directory;

    private VfioUserServer listen(Path path) throws ListenException {
        return VfioUserServer.listen(
                new CopyDevice(), path, ServerOptions.named("test").withTakeover(Duration.ofMillis(200)));
    }

    /** Connects and agrees on a version. */
    private static FileDescriptor client(Path path) throws NativeException, StreamException {
        FileDescriptor socket = UnixSocket.connect(path);
        try (MessageWriter out = new MessageWriter(socket, new SendLock());
                MessageReader in = new MessageReader(socket, Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)))) {
            out.begin(4).set(Wire.U32, Header.BYTES, 0);
            out.send(1, Command.VERSION, Header.TYPE_COMMAND, 0, 4);
            in.receive();
            assertEquals(Header.TYPE_REPLY, in.flags());
        }
        return socket;
    }

    @Test
    void socketIsItsOwnersOnlyAndGoesWithTheServer() throws IOException {
        Path path = directory.resolve("a.sock");
        try (VfioUserServer server = listen(path)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            assertEquals(path, server.path());
            assertFalse(server.connected());
        }
        assertFalse(Files.exists(path));
    }

    @Test
    void socketOfADeadServerIsReplaced() throws IOException {
        Path path = directory.resolve("a.sock");
        UnixSocket.bind(path).close();
        assertTrue(Files.exists(path));
        try (VfioUserServer server = listen(path);
                FileDescriptor c = client(path)) {
            assertTrue(server.connected());
            assertFalse(c.isClosed());
        }
    }

    @Test
    void liveServerIsNeverReplaced() throws IOException {
        Path path = directory.resolve("a.sock");
        try (VfioUserServer server = listen(path)) {
            ListenException e = assertThrows(ListenException.class, () -> listen(path));
            assertTrue(e.getMessage().contains("another server is listening on " + path), e.getMessage());
            try (FileDescriptor c = client(path)) {
                assertTrue(server.connected());
                assertFalse(c.isClosed());
            }
        }
    }

    @Test
    void otherFilesAreLeftAlone() throws IOException {
        Path path = Files.writeString(directory.resolve("notes"), "mine");
        ListenException e = assertThrows(ListenException.class, () -> listen(path));
        assertTrue(e.getMessage().contains("is not a socket"), e.getMessage());
        assertEquals("mine", Files.readString(path));
    }

    @Test
    void faultsOfThePathSayWhatToDo() {
        Path longPath = directory.resolve("x".repeat(120));
        ListenException e = assertThrows(ListenException.class, () -> listen(longPath));
        assertTrue(e.getMessage().contains("shorter path"), e.getMessage());
        Path nowhere = directory.resolve("missing/a.sock");
        e = assertThrows(ListenException.class, () -> listen(nowhere));
        assertTrue(e.getMessage().contains("the directory does not exist"), e.getMessage());
    }

    @Test
    void secondClientIsTurnedAwayAndServedOnceTheFirstHasGone() throws Exception {
        Path path = directory.resolve("a.sock");
        try (VfioUserServer server = listen(path)) {
            FileDescriptor first = client(path);
            try (FileDescriptor second = UnixSocket.connect(path)) {
                assertTrue(Poll.readable(second.value(), 10_000), "closed after the wait");
                assertEquals(1, server.counters().getFirst().get("clients_refused"));
            }
            assertTrue(server.connected());
            first.close();
            client(path).close();
        }
    }

    @Test
    void silentClientMakesWay() throws Exception {
        Path path = directory.resolve("a.sock");
        try (VfioUserServer server = listen(path);
                FileDescriptor silent = UnixSocket.connect(path);
                FileDescriptor client = client(path)) {
            assertTrue(server.connected());
            assertTrue(Poll.readable(silent.value(), 10_000), "was disconnected");
            assertFalse(client.isClosed());
        }
    }

    @Test
    void closeEndsTheConnectionAndLeavesNothingOpen() throws Exception {
        Path path = directory.resolve("a.sock");
        listen(path).close();
        int before = openFiles();
        for (int i = 0; i < 20; i++) {
            VfioUserServer server = listen(path);
            FileDescriptor client = client(path);
            server.close();
            assertTrue(Poll.readable(client.value(), 10_000));
            client.close();
        }
        assertEquals(before, openFiles());
    }

    /** A device that a client leaves only together with those of the other servers. */
    private record Inseparable(PciDevice device, CyclicBarrier meeting, AtomicInteger met) implements PciDevice {
        @Override
        public PciFunction function() {
            return device.function();
        }

        @Override
        public void attach(DeviceLink link) {
            device.attach(link);
        }

        @Override
        public long read(int bar, long offset, int width) {
            return device.read(bar, offset, width);
        }

        @Override
        public void write(int bar, long offset, int width, long value) {
            device.write(bar, offset, width, value);
        }

        @Override
        public void reset(ResetKind kind) {
            device.reset(kind);
        }

        @Override
        public void detach() {
            device.detach();
            try {
                meeting.await(1, TimeUnit.MINUTES);
                met.incrementAndGet();
            } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                throw new IllegalStateException("the others were not told to end", e);
            }
        }
    }

    @Test
    void serversThatAreStoppedBeforeTheyAreClosedEndAtTheSameTime() throws Exception {
        int number = 4;
        CyclicBarrier meeting = new CyclicBarrier(number);
        AtomicInteger met = new AtomicInteger();
        List<VfioUserServer> servers = new ArrayList<>();
        List<FileDescriptor> clients = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            Path path = directory.resolve(i + ".sock");
            PciDevice device = new Inseparable(new CopyDevice(), meeting, met);
            servers.add(VfioUserServer.listen(device, path, ServerOptions.named("test" + i)));
            clients.add(client(path));
        }
        servers.forEach(VfioUserServer::stop);
        servers.forEach(VfioUserServer::stop); // once more is harmless
        servers.forEach(VfioUserServer::close);
        assertEquals(number, met.get());
        for (FileDescriptor c : clients) {
            assertTrue(Poll.readable(c.value(), 10_000));
            c.close();
        }
    }

    private static int openFiles() {
        String[] names = new File("/proc/self/fd").list();
        assertTrue(names != null);
        return names.length;
    }
}
