// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Stream sockets in the Unix domain. All descriptors are closed on exec. */
public final class UnixSocket {
    /** Longest path of a socket in bytes: {@code sun_path} has 108 with the terminating zero. */
    public static final int MAX_PATH_BYTES = 107;

    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int SO_PEERCRED = 17;
    private static final int SHUT_RDWR = 2;
    private static final int SUN_PATH = 2;

    private UnixSocket() {}

    /** The path's length in bytes, as {@link #MAX_PATH_BYTES} limits it. */
    public static int pathBytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    /** A socket that is bound to {@code path}, which must not exist, and does not listen yet. */
    public static FileDescriptor bind(Path path) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(path, arena);
            FileDescriptor fd = create();
            int r = Libc.bind(fd.value(), address.address(), (int) address.byteSize());
            if (r < 0) {
                fd.close();
                throw new NativeException("bind(" + path + ")", -r);
            }
            return fd;
        }
    }

    /** Starts to listen: from here on clients can connect. */
    public static void listen(FileDescriptor fd, int backlog) throws NativeException {
        NativeException.check("listen", Libc.listen(fd.value(), backlog));
    }

    /**
     * Waits for a client. Throws {@link NativeException} when that fails, with {@code EINVAL} after {@link #shutdown} by
     * another thread.
     */
    public static FileDescriptor accept(FileDescriptor listening) throws NativeException {
        return FileDescriptor.own(NativeException.check("accept", Libc.accept4(listening.value(), SOCK_CLOEXEC)));
    }

    /** Connects to the server at {@code path}. */
    public static FileDescriptor connect(Path path) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = address(path, arena);
            FileDescriptor fd = create();
            int r = Libc.connect(fd.value(), address.address(), (int) address.byteSize());
            if (r < 0) {
                fd.close();
                throw new NativeException("connect(" + path + ")", -r);
            }
            return fd;
        }
    }

    /** Two sockets connected to each other. */
    public static FileDescriptor[] pair() throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(8, 4);
            NativeException.check(
                    "socketpair", Libc.socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.address()));
            return new FileDescriptor[] {
                FileDescriptor.own(pair.get(JAVA_INT, 0)), FileDescriptor.own(pair.get(JAVA_INT, 4))
            };
        }
    }

    /** Ends the connection both ways, or the listening: who waits in a call on the socket returns. Harmless if gone. */
    public static void shutdown(FileDescriptor fd) {
        if (!fd.isClosed()) {
            int _ = Libc.shutdown(fd.value(), SHUT_RDWR);
        }
    }

    /** Asks for a send buffer of {@code bytes} bytes; the kernel decides. For tests with slow peers. */
    public static void sendBuffer(FileDescriptor fd, int bytes) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(4, 4);
            value.set(JAVA_INT, 0, bytes);
            NativeException.check(
                    "setsockopt(SO_SNDBUF)", Libc.setsockopt(fd.value(), SOL_SOCKET, SO_SNDBUF, value.address(), 4));
        }
    }

    /** The process that connected, as of then; 0 when it is not in a namespace that we see. */
    public static int peerPid(FileDescriptor fd) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment credentials = arena.allocate(12, 4);
            MemorySegment bytes = arena.allocate(4, 4);
            bytes.set(JAVA_INT, 0, 12);
            NativeException.check(
                    "getsockopt(SO_PEERCRED)",
                    Libc.getsockopt(fd.value(), SOL_SOCKET, SO_PEERCRED, credentials.address(), bytes.address()));
            return credentials.get(JAVA_INT, 0);
        }
    }

    private static FileDescriptor create() throws NativeException {
        return FileDescriptor.own(NativeException.check("socket", Libc.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    }

    private static MemorySegment address(Path path, Arena arena) throws NativeException {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        if (name.length > MAX_PATH_BYTES) {
            throw new NativeException("socket path of " + name.length + " bytes: " + path, Errno.ENAMETOOLONG);
        }
        MemorySegment address = arena.allocate(SUN_PATH + name.length + 1L, 2);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        MemorySegment.copy(name, 0, address, JAVA_BYTE, SUN_PATH, name.length);
        return address;
    }
}
