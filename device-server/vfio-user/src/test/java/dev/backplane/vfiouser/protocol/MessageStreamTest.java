// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.StreamException.Reason;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The framing, against a peer that writes raw bytes and descriptors as it likes. */
class MessageStreamTest {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment raw = arena.allocate(2 << 20);
    private FileDescriptor[] pair;
    private MessageSocket peer;
    private MessageReader reader;

    @BeforeEach
    void connect() throws NativeException {
        pair = UnixSocket.pair();
        peer = new MessageSocket(pair[0], MessageSocket.MAX_FDS);
        reader = new MessageReader(pair[1], Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)));
    }

    @AfterEach
    void close() {
        peer.close();
        reader.close();
        pair[0].close();
        pair[1].close();
        arena.close();
    }

    /** Puts a message at {@code at} of the raw memory; its payload bytes are {@code id, id+1, …}. */
    private int put(int at, int id, int bodyBytes) {
        Header.write(raw.asSlice(at), id, Command.REGION_WRITE, Header.BYTES + bodyBytes, 0, 0);
        for (int i = 0; i < bodyBytes; i++) {
            raw.set(Wire.U8, at + Header.BYTES + (long) i, (byte) (id + i));
        }
        return at + Header.BYTES + bodyBytes;
    }

    private void write(int from, int to, int... fds) {
        int at = from;
        while (at < to) {
            int n = peer.send(raw.address() + at, to - at, fds, at == from ? fds.length : 0, 0);
            assertTrue(n > 0, () -> "send: " + n);
            at += n;
        }
    }

    private void expect(int id, int bodyBytes, int fds) throws StreamException {
        reader.receive();
        assertEquals(id, reader.id());
        assertEquals(Command.REGION_WRITE, reader.command());
        assertEquals(bodyBytes, reader.bodyBytes());
        assertEquals(fds, reader.fds(), () -> "descriptors of message " + id);
        for (int i = 0; i < bodyBytes; i += Math.max(1, bodyBytes / 100)) {
            assertEquals((id + i) & 0xff, reader.u8(i), "byte " + i + " of message " + id);
        }
        if (bodyBytes > 0) {
            assertEquals((id + bodyBytes - 1) & 0xff, reader.u8(bodyBytes - 1));
        }
    }

    private static int openFiles() {
        String[] names = new File("/proc/self/fd").list();
        assertTrue(names != null);
        return names.length;
    }

    @Test
    void messagesAreReadHoweverTheStreamIsCut() throws Exception {
        int end = 0;
        int[] sizes = {0, 1, 4, 20, 300, 5000, 0, 64};
        for (int i = 0; i < sizes.length; i++) {
            end = put(end, i, sizes[i]);
        }
        for (int piece : new int[] {1, 3, 15, 16, 17, 100, end}) {
            int total = end;
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                for (int at = 0; at < total; at += piece) {
                    write(at, Math.min(total, at + piece));
                }
            });
            for (int i = 0; i < sizes.length; i++) {
                expect(i, sizes[i], 0);
            }
            writer.get();
        }
    }

    @Test
    void largestMessageIsReadAndTheBufferShrinksAgain() throws Exception {
        int body = Limits.MAX_MESSAGE - Header.BYTES;
        int big = put(0, 1, body);
        int end = put(put(big, 2, 7), 3, 100_000);
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> write(0, end));
        expect(1, body, 0);
        assertTrue(reader.memory().byteSize() < Limits.MAX_MESSAGE + 8192);
        expect(2, 7, 0);
        expect(3, 100_000, 0);
        writer.get();
        write(put(0, 4, 0) - Header.BYTES, Header.BYTES);
        expect(4, 0, 0);
        assertEquals(16 << 10, reader.memory().byteSize());
    }

    /** A header that promises much must not take memory before the bytes are there. */
    @Test
    void promisesTakeNoMemory() throws Exception {
        Header.write(raw, 1, Command.REGION_WRITE, Limits.MAX_MESSAGE, 0, 0);
        write(0, 5000);
        CompletableFuture<Reason> end = CompletableFuture.supplyAsync(
                () -> assertThrows(StreamException.class, reader::receive).reason());
        pair[0].close();
        assertEquals(Reason.CUT_SHORT, end.get());
        assertEquals(16 << 10, reader.memory().byteSize());
    }

    @Test
    void impossibleSizesEndTheStreamAndNameTheNumbers() {
        for (int size : new int[] {0, 15, Limits.MAX_MESSAGE + 1, 0x7fffffff, 0x80000000, 0xffffffff}) {
            try (MessageReader r =
                    new MessageReader(pair[1], Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)))) {
                Header.write(raw, 77, Command.DMA_MAP, size, 0, 0);
                write(0, Header.BYTES);
                StreamException e = assertThrows(StreamException.class, r::receive);
                assertEquals(Reason.BAD_SIZE, e.reason());
                assertTrue(e.getMessage().contains(Integer.toUnsignedString(size)), e.getMessage());
                assertEquals(77, r.id());
            }
        }
    }

    @Test
    void endAtEveryPlaceIsToldApart() throws Exception {
        for (int k = 0; k < 40; k++) {
            FileDescriptor[] p = UnixSocket.pair();
            try (MessageSocket s = new MessageSocket(p[0], 1);
                    MessageReader r =
                            new MessageReader(p[1], Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)))) {
                int end = put(0, 1, 24);
                if (k > 0) {
                    s.send(raw.address(), Math.min(k, end), new int[0], 0, 0);
                }
                p[0].close();
                if (k >= end) {
                    r.receive();
                }
                StreamException e = assertThrows(StreamException.class, r::receive);
                assertEquals(k == 0 || k >= end ? Reason.PEER_GONE : Reason.CUT_SHORT, e.reason(), "after " + k);
            } finally {
                p[1].close();
            }
        }
    }

    @Test
    void descriptorsStayWithTheirMessage() throws Exception {
        try (EventFd event = EventFd.create()) {
            int fd = event.fd().value();
            int before = openFiles();
            int a = put(0, 1, 10);
            int b = put(a, 2, 20);
            int c = put(b, 3, 0);
            int d = put(c, 4, 30);
            write(0, a);
            write(a, b, fd, fd);
            write(b, c);
            write(c, d, fd);
            expect(1, 10, 0);
            expect(2, 20, 2);
            try (EventFd taken = EventFd.of(reader.takeFd())) {
                taken.signal();
            }
            assertEquals(1, reader.fds());
            expect(3, 0, 0);
            expect(4, 30, 1);
            reader.close();
            assertEquals(before, openFiles());
            assertEquals(1, event.read());
            connectAgain();
        }
    }

    private void connectAgain() {
        reader = new MessageReader(pair[1], Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)));
    }

    @Test
    void descriptorsOfAMessageInPiecesAreKeptUntilItIsComplete() throws Exception {
        try (EventFd event = EventFd.create()) {
            int fd = event.fd().value();
            int a = put(0, 1, 100);
            int b = put(a, 2, 0);
            CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                write(0, 5, fd);
                write(5, 50);
                write(50, a);
                write(a, b, fd, fd, fd);
            });
            expect(1, 100, 1);
            expect(2, 0, 3);
            writer.get();
        }
    }

    @Test
    void mostDescriptorsOfOneCallArrive() throws Exception {
        try (EventFd event = EventFd.create()) {
            int[] fds = new int[MessageSocket.MAX_FDS];
            Arrays.fill(fds, event.fd().value());
            int before = openFiles();
            for (int i = 0; i < 20; i++) {
                write(0, put(0, i, 20), fds);
                expect(i, 20, MessageSocket.MAX_FDS);
            }
            write(0, put(0, 21, 20));
            expect(21, 20, 0);
            assertEquals(before, openFiles());
        }
    }

    /** Each byte of one message with as many descriptors as a call takes: it must end, and leave none open. */
    @Test
    void descriptorsWithoutEndAreRefused() throws Exception {
        try (EventFd event = EventFd.create()) {
            int[] fds = new int[MessageSocket.MAX_FDS];
            Arrays.fill(fds, event.fd().value());
            int before = openFiles();
            put(0, 1, 20);
            CompletableFuture<Reason> end = CompletableFuture.supplyAsync(
                    () -> assertThrows(StreamException.class, reader::receive).reason());
            for (int i = 0; i < 3; i++) {
                write(i, i + 1, fds);
            }
            assertEquals(Reason.TOO_MANY_DESCRIPTORS, end.get());
            reader.close();
            assertEquals(before, openFiles());
            connectAgain();
        }
    }

    @Test
    void writerSendsWholeMessagesInOrderToASlowPeer() throws Exception {
        UnixSocket.sendBuffer(pair[0], 4096);
        int count = 50;
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            try (MessageWriter w = new MessageWriter(pair[0], new SendLock())) {
                for (int i = 0; i < count; i++) {
                    int body = i * 3001;
                    MemorySegment m = w.begin(body);
                    for (int b = 0; b < body; b++) {
                        m.set(Wire.U8, Header.BYTES + (long) b, (byte) (i + b));
                    }
                    w.send(i, Command.REGION_WRITE, 0, 0, body);
                }
            } catch (StreamException e) {
                throw new AssertionError(e);
            }
        });
        for (int i = 0; i < count; i++) {
            expect(i, i * 3001, 0);
        }
        writing.get();
    }

    @Test
    void trySendGivesUpOnAPeerThatDoesNotRead() throws Exception {
        UnixSocket.sendBuffer(pair[0], 4096);
        try (MessageWriter w = new MessageWriter(pair[0], new SendLock())) {
            int sent = 0;
            w.begin(100);
            while (w.trySend(sent, Command.DMA_READ, 0, 0, 100, 1_000_000)) {
                sent++;
            }
            assertTrue(sent > 0);
            w.begin(100_000);
            assertFalse(w.trySend(sent, Command.DMA_WRITE, 0, 0, 100_000, 1_000_000));
            for (int i = 0; i < sent; i++) {
                reader.receive();
                assertEquals(i, reader.id());
            }
            StreamException e = assertThrows(
                    StreamException.class, () -> w.trySend(0, Command.DMA_WRITE, 0, 0, 100_000, 1_000_000));
            assertEquals(Reason.STUCK, e.reason());
        }
    }
}
