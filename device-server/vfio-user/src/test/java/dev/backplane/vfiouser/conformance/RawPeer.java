// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;

/**
 * A client that sends exactly the bytes and descriptors it is told to, cut as it is told to, and reads as QEMU does: 16
 * bytes and the descriptors in one {@code recvmsg}, then the rest with plain reads. It knows nothing of the library but
 * its system calls. One thread uses it.
 */
public final class RawPeer implements AutoCloseable {
    /** No answer takes longer on a loaded machine; it is a limit, not something a test waits for when all is well. */
    public static final int LIMIT_MILLIS = 10_000;

    private static final int TRANSCRIPT_LINES = 200;
    private static final int SHOWN_BYTES = 160;

    private final PeerSocket socket;
    private final List<String> transcript = new ArrayList<>();
    private final List<Integer> received = new ArrayList<>();

    private RawPeer(PeerSocket socket) {
        this.socket = socket;
    }

    /** Connects without a word. */
    public static RawPeer connect(Path path) {
        return new RawPeer(PeerSocket.connect(path));
    }

    /** Speaks on a descriptor that is connected, such as the one of a twin socket. */
    public static RawPeer on(int fd) {
        return new RawPeer(PeerSocket.on(fd));
    }

    /** Connects and negotiates with the capabilities that QEMU 11.1 sends. */
    public static RawPeer negotiated(Path path) {
        RawPeer peer = connect(path);
        Received reply = peer.call(Message.version(
                "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,\"max_dma_maps\":65535,"
                        + "\"pgsizes\":4096,\"write_multiple\":true,\"migration\":{\"pgsize\":4096,"
                        + "\"max_bitmap_size\":268435456}}}"));
        assertEquals(Wire.REPLY, reply.flags(), () -> "negotiation failed: " + reply.hex());
        return peer;
    }

    /** Sends a message in one {@code sendmsg}. */
    public RawPeer send(Message message, int... fds) {
        return sendBytes(message.toBytes(), fds);
    }

    /** As {@link #send}, for floods and for a second thread: leaves no line in the transcript. */
    public void sendQuietly(Message message, int... fds) {
        byte[] bytes = message.toBytes();
        socket.send(bytes, 0, bytes.length, fds);
    }

    /** Sends without waiting and without a line in the transcript; false when the server has gone or takes no more. */
    public boolean trySend(byte[] bytes, int... fds) {
        return socket.trySend(bytes, fds);
    }

    /** Throws away what has come, descriptors too; false when the server has gone. */
    public boolean drain() {
        return socket.drain();
    }

    /** Sends bytes in one {@code sendmsg}, the descriptors with the first of them. */
    public RawPeer sendBytes(byte[] bytes, int... fds) {
        note("->", bytes, fds);
        socket.send(bytes, 0, bytes.length, fds);
        return this;
    }

    /** Sends in pieces of {@code step} bytes; the descriptors ride on the piece that begins at byte {@code fdsAt}. */
    public RawPeer sendInPieces(byte[] bytes, int step, int fdsAt, int... fds) {
        note("-> in pieces of " + step + ", descriptors at " + fdsAt, bytes, fds);
        for (int at = 0; at < bytes.length; at += step) {
            int n = Math.min(step, bytes.length - at);
            socket.send(bytes, at, n, at == fdsAt ? fds : new int[0]);
        }
        return this;
    }

    /** Sends a command and returns its answer, which must be the next message and carry its id and command. */
    public Received call(Message message, int... fds) {
        send(message, fds);
        return answer(message);
    }

    /** The next message, which must be the answer to {@code message}. */
    public Received answer(Message message) {
        Received r = receive();
        assertTrue(r.isReply(), () -> "a reply was due, not " + r.hex());
        assertEquals(message.id(), r.id(), "id of the reply");
        assertEquals(message.command(), r.command(), "command of the reply");
        return r;
    }

    /** Sends a command that must succeed. */
    public Received ok(Message message, int... fds) {
        Received r = call(message, fds);
        assertEquals(Wire.REPLY, r.flags(), () -> "command " + message.command() + " failed, errno " + r.error());
        assertEquals(0, r.error(), "error field of a good reply");
        return r;
    }

    /** Sends a command that must fail with {@code errno}: exactly 16 bytes, type Reply, Error set. */
    public void fails(int errno, Message message, int... fds) {
        send(message, fds);
        answerFails(errno, message);
    }

    /** The next message must be the error reply to {@code message}. */
    public void answerFails(int errno, Message message) {
        Received r = receive();
        byte[] golden = Message.command(message.command())
                .id(message.id())
                .flags(Wire.REPLY | Wire.ERROR)
                .error(errno)
                .toBytes();
        assertArrayEquals(
                golden,
                r.bytes(),
                () -> "error reply: expected " + HexFormat.of().formatHex(golden) + ", was " + r.hex());
        assertEquals(0, r.fds().length, "descriptors of an error reply");
    }

    /** Receives one message as QEMU does. Fails when none comes, when the header comes in pieces, and at the end. */
    public Received receive() {
        byte[] header = new byte[Wire.HEADER];
        int before = received.size();
        int n = socket.receive(header, 0, header.length, received, LIMIT_MILLIS);
        if (n == 0) {
            note("<- end of stream", new byte[0]);
            throw new AssertionError("the server closed the connection");
        }
        assertEquals(Wire.HEADER, n, "bytes of the header in the first receive (QEMU gives up on fewer)");
        int[] fds = received.subList(before, received.size()).stream()
                .mapToInt(i -> i)
                .toArray();
        long size = new Received(header, fds).size();
        if (size < Wire.HEADER || size > 64 << 20) {
            throw new AssertionError(
                    "impossible size of a reply: " + HexFormat.of().formatHex(header));
        }
        byte[] all = Arrays.copyOf(header, (int) size);
        int at = Wire.HEADER;
        List<Integer> late = new ArrayList<>();
        while (at < all.length) {
            n = socket.receive(all, at, all.length - at, late, LIMIT_MILLIS);
            assertTrue(n > 0, "the stream ends inside a message");
            at += n;
        }
        received.addAll(late);
        note("<-", all, fds);
        assertEquals(0, late.size(), "descriptors that did not ride on the header");
        return new Received(all, fds);
    }

    /**
     * Checks that nothing unasked-for was sent: a read of the device is answered next, and only that. No waiting is
     * needed, because the server answers in order.
     */
    public void nothingPending() {
        ok(Message.read(Wire.CONFIG_REGION, 0, 4));
        assertTrue(!socket.readable(0), "there is more to read after the reply");
    }

    /** Whether something can be read now. */
    public boolean readable(int millis) {
        return socket.readable(millis);
    }

    /** Reads until the server has closed the connection; returns what it sent before. */
    public byte[] readToEnd() {
        byte[] all = new byte[0];
        byte[] piece = new byte[4096];
        while (true) {
            int n = socket.receive(piece, 0, piece.length, received, LIMIT_MILLIS);
            if (n == 0) {
                note("<- then end of stream", all);
                return all;
            }
            all = Arrays.copyOf(all, all.length + n);
            System.arraycopy(piece, 0, all, all.length - n, n);
        }
    }

    /** As {@link #readToEnd}, but ends also when nothing has come for a while. */
    public byte[] readToEndOrQuiet(int quietMillis) {
        byte[] all = new byte[0];
        byte[] piece = new byte[4096];
        while (socket.readable(quietMillis)) {
            int n = socket.receive(piece, 0, piece.length, received, LIMIT_MILLIS);
            if (n == 0) {
                break;
            }
            all = Arrays.copyOf(all, all.length + n);
            System.arraycopy(piece, 0, all, all.length - n, n);
        }
        note("<- then quiet", all);
        return all;
    }

    /** Ends the connection both ways at once, also under a thread that is sending. */
    public void abort() {
        note("-> abort", new byte[0]);
        socket.abort();
    }

    /** Stops sending; the server sees the end of the stream and answers what it has. */
    public void endOfStream() {
        note("-> end of stream", new byte[0]);
        socket.shutdownSend();
    }

    /** What was said, in hexadecimal, the latest last. */
    public String transcript() {
        return String.join("\n", transcript);
    }

    /** Closes the socket and the descriptors that were received. */
    @Override
    public void close() {
        socket.close();
        received.forEach(Fds::close);
        received.clear();
    }

    private void note(String what, byte[] bytes, int... fds) {
        if (transcript.size() == TRANSCRIPT_LINES) {
            transcript.removeFirst();
        }
        StringJoiner line = new StringJoiner(" ").add(what);
        line.add(HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, SHOWN_BYTES)));
        if (bytes.length > SHOWN_BYTES) {
            line.add("... (" + bytes.length + " bytes)");
        }
        if (fds.length > 0) {
            line.add("fds " + Arrays.toString(fds));
        }
        transcript.add(line.toString());
    }
}
