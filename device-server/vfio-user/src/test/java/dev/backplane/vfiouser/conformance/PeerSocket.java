// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.natives.RawCalls;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

/** Bytes and descriptors to and from a server, one system call for each call here. One thread sends, one receives. */
final class PeerSocket implements AutoCloseable {
    private static final int ROOM = 1 << 16;

    private final FileDescriptor fd;
    private final MessageSocket sending;
    private final MessageSocket receiving;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment out = arena.allocate(ROOM);
    private final MemorySegment in = arena.allocate(ROOM);
    private boolean closed;

    private PeerSocket(FileDescriptor fd) {
        this.fd = fd;
        this.sending = new MessageSocket(fd, MessageSocket.MAX_FDS);
        this.receiving = new MessageSocket(fd, MessageSocket.MAX_FDS);
    }

    static PeerSocket connect(Path path) {
        try {
            return new PeerSocket(UnixSocket.connect(path));
        } catch (NativeException e) {
            throw new AssertionError("cannot connect to " + path, e);
        }
    }

    static PeerSocket on(int fd) {
        return new PeerSocket(FileDescriptor.own(fd));
    }

    /** Sends all of the bytes; the descriptors go with the first. More than 64 KiB take several calls. */
    void send(byte[] bytes, int offset, int length, int... fds) {
        int at = offset;
        int[] along = fds;
        while (at < offset + length) {
            int n = Math.min(ROOM, offset + length - at);
            MemorySegment.copy(bytes, at, out, ValueLayout.JAVA_BYTE, 0, n);
            int sent = sending.send(out.address(), n, along, along.length, 0);
            if (sent < 0) {
                throw new AssertionError("sendmsg: " + Errno.name(-sent));
            }
            at += sent;
            along = new int[0];
        }
    }

    /** Sends what can be sent without waiting; false when the server has gone or takes no more. */
    boolean trySend(byte[] bytes, int... fds) {
        int n = Math.min(ROOM, bytes.length);
        MemorySegment.copy(bytes, 0, out, ValueLayout.JAVA_BYTE, 0, n);
        return sending.send(out.address(), n, fds, fds.length, MessageSocket.DONT_WAIT) == bytes.length;
    }

    /** Throws away what can be received without waiting; false when the server has gone. */
    boolean drain() {
        while (true) {
            int n = receiving.receive(in.address(), ROOM, MessageSocket.DONT_WAIT);
            if (n <= 0) {
                return n == -Errno.EAGAIN;
            }
            for (int i = 0; i < receiving.fds(); i++) {
                FileDescriptor.close(receiving.fd(i));
            }
        }
    }

    /** Receives once; 0 at the end of the stream or when the server has thrown the connection away. */
    int receive(byte[] to, int offset, int length, List<Integer> fds, int timeoutMillis) {
        if (!readable(timeoutMillis)) {
            throw new AssertionError("nothing came for " + timeoutMillis + " ms");
        }
        int n = receiving.receive(in.address(), Math.min(length, ROOM), MessageSocket.DONT_WAIT);
        if (n == -Errno.ECONNRESET) {
            return 0;
        }
        if (n < 0) {
            throw new AssertionError("recvmsg: " + Errno.name(-n));
        }
        for (int i = 0; i < receiving.fds(); i++) {
            fds.add(receiving.fd(i));
        }
        MemorySegment.copy(in, ValueLayout.JAVA_BYTE, 0, to, offset, n);
        return n;
    }

    boolean readable(int timeoutMillis) {
        try {
            return Poll.readable(fd.value(), timeoutMillis);
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    void shutdownSend() {
        try {
            RawCalls.shutdownSend(fd.value());
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    void abort() {
        UnixSocket.shutdown(fd);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            fd.close();
            sending.close();
            receiving.close();
            arena.close();
        }
    }
}
