// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** The other end of a stream uplink, written against QEMU's net/stream.c: big-endian length, then the frame. */
final class StreamPeer implements AutoCloseable {
    private final SocketChannel socket;

    StreamPeer(SocketChannel socket) {
        this.socket = socket;
    }

    /** Connects to an uplink that listens. */
    static StreamPeer connect(Path path) throws IOException {
        SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
        socket.connect(UnixDomainSocketAddress.of(path));
        return new StreamPeer(socket);
    }

    void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    static ByteBuffer framed(byte[] frame) {
        return ByteBuffer.allocate(4 + frame.length)
                .putInt(frame.length)
                .put(frame)
                .flip();
    }

    void send(byte[] frame) throws IOException {
        write(framed(frame));
    }

    /** The next frame; waits for it. */
    byte[] receive() throws IOException {
        byte[] frame = new byte[ByteBuffer.wrap(read(4)).getInt()];
        return read(frame.length);
    }

    private byte[] read(int n) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(n);
        while (bytes.hasRemaining()) {
            if (socket.read(bytes) < 0) {
                throw new EOFException("closed after " + bytes.position() + " of " + n + " bytes");
            }
        }
        return bytes.array();
    }

    /** Waits for the end of the connection. */
    boolean awaitEnd() {
        try {
            ByteBuffer rest = ByteBuffer.allocate(4096);
            while (socket.read(rest) >= 0) {
                rest.clear();
            }
        } catch (IOException reset) {
            return true;
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
