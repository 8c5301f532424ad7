// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MessageSocketTest {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer = arena.allocate(4096);
    private FileDescriptor[] pair;
    private MessageSocket left;
    private MessageSocket right;

    @BeforeEach
    void connect() throws NativeException {
        pair = UnixSocket.pair();
        left = new MessageSocket(pair[0], MessageSocket.MAX_FDS);
        right = new MessageSocket(pair[1], MessageSocket.MAX_FDS);
    }

    @AfterEach
    void close() {
        left.close();
        right.close();
        pair[0].close();
        pair[1].close();
        arena.close();
    }

    @Test
    void bytesArriveAsSent() {
        buffer.set(JAVA_BYTE, 0, (byte) 42);
        assertEquals(3, left.send(buffer.address(), 3, new int[0], 0, 0));
        assertEquals(3, right.receive(buffer.address() + 100, 4000, 0));
        assertEquals(42, buffer.get(JAVA_BYTE, 100));
        assertEquals(0, right.fds());
        assertFalse(right.truncated());
    }

    @Test
    void asManyDescriptorsAsTheKernelTakesArriveAndAreUsable() throws NativeException {
        EventFd event = EventFd.create();
        int[] fds = new int[MessageSocket.MAX_FDS];
        Arrays.fill(fds, event.fd().value());
        assertEquals(1, left.send(buffer.address(), 1, fds, fds.length, 0));
        assertEquals(1, right.receive(buffer.address(), 4096, 0));
        assertEquals(MessageSocket.MAX_FDS, right.fds());
        assertFalse(right.truncated());
        for (int i = 0; i < MessageSocket.MAX_FDS; i++) {
            assertTrue(EventFd.isEventFd(right.fd(i)));
            try (EventFd received = EventFd.of(FileDescriptor.own(right.fd(i)))) {
                assertTrue(received.signal());
            }
        }
        assertEquals(MessageSocket.MAX_FDS, event.read());
        event.close();
    }

    @Test
    void descriptorsWithoutRoomAreReportedAsTruncated() throws NativeException {
        try (MessageSocket narrow = new MessageSocket(pair[1], 1);
                EventFd event = EventFd.create()) {
            int fd = event.fd().value();
            left.send(buffer.address(), 1, new int[] {fd, fd, fd, fd}, 4, 0);
            assertEquals(1, narrow.receive(buffer.address(), 1, 0));
            assertTrue(narrow.truncated());
            for (int i = 0; i < narrow.fds(); i++) {
                FileDescriptor.close(narrow.fd(i));
            }
        }
    }

    /** The kernel's rule that the framing relies on: descriptors end a read, and belong to what came last in it. */
    @Test
    void descriptorsComeWithTheReadThatTheirMessageEnds() throws NativeException {
        try (EventFd event = EventFd.create()) {
            left.send(buffer.address(), 10, new int[0], 0, 0);
            left.send(buffer.address(), 20, new int[] {event.fd().value()}, 1, 0);
            left.send(buffer.address(), 30, new int[0], 0, 0);
            assertEquals(30, right.receive(buffer.address(), 4096, 0));
            assertEquals(1, right.fds());
            FileDescriptor.close(right.fd(0));
            assertEquals(30, right.receive(buffer.address(), 4096, 0));
            assertEquals(0, right.fds());
        }
    }

    @Test
    void emptySocketAnswersAgainWhenAskedNotToWait() {
        assertEquals(-Errno.EAGAIN, right.receive(buffer.address(), 1, MessageSocket.DONT_WAIT));
    }

    @Test
    void peersEndIsAnEmptyReadAndABrokenPipe() {
        pair[0].close();
        assertEquals(0, right.receive(buffer.address(), 1, 0));
        assertEquals(-Errno.EPIPE, right.send(buffer.address(), 1, new int[0], 0, 0));
    }

    @Test
    void shutdownWakesAReceiver() throws Exception {
        int[] result = {-1};
        Thread receiver = new Thread(() -> result[0] = right.receive(buffer.address(), 1, 0));
        receiver.start();
        UnixSocket.shutdown(pair[1]);
        receiver.join();
        assertEquals(0, result[0]);
    }

    @Test
    void listenConnectAccept(@TempDir Path dir) throws NativeException {
        Path path = dir.resolve("s");
        try (FileDescriptor listening = UnixSocket.bind(path)) {
            assertEquals(
                    Errno.ECONNREFUSED,
                    assertThrows(NativeException.class, () -> UnixSocket.connect(path))
                            .errno());
            UnixSocket.listen(listening, 1);
            try (FileDescriptor client = UnixSocket.connect(path);
                    FileDescriptor server = UnixSocket.accept(listening)) {
                assertFalse(client.isClosed());
                assertEquals(ProcessHandle.current().pid(), UnixSocket.peerPid(server));
            }
            assertEquals(
                    Errno.EADDRINUSE,
                    assertThrows(NativeException.class, () -> UnixSocket.bind(path))
                            .errno());
        }
    }

    @Test
    void tooLongPathIsRefusedWithItsLength(@TempDir Path dir) {
        Path path = dir.resolve("x".repeat(120));
        NativeException e = assertThrows(NativeException.class, () -> UnixSocket.bind(path));
        assertEquals(Errno.ENAMETOOLONG, e.errno());
        assertTrue(e.getMessage().contains(UnixSocket.pathBytes(path) + " bytes"), e.getMessage());
    }
}
