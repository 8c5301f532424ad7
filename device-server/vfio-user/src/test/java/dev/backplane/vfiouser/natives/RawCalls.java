// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** System calls that only a test makes. */
public final class RawCalls {
    private static final int SHUT_WR = 1;
    private static final int AT_FDCWD = -100;
    private static final int O_CLOEXEC = 0x80000;
    private static final int AF_UNIX = 1;
    private static final int SOCK_SEQPACKET_CLOEXEC = 5 | 0x80000;

    private RawCalls() {}

    /** Ends the sending direction of a socket. */
    public static void shutdownSend(int fd) throws NativeException {
        NativeException.check("shutdown", Libc.shutdown(fd, SHUT_WR));
    }

    /** Writes 8 bytes, such as a value for an event descriptor. */
    public static void writeLong(int fd, long value) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(8, 8);
            from.set(ValueLayout.JAVA_LONG, 0, value);
            NativeException.check("write", (int) Libc.write(fd, from.address(), 8));
        }
    }

    /** Opens a path of any kind, as a plain number. */
    public static int open(String path, boolean writable) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            long openat = System.getProperty("os.arch").equals("amd64") ? 257 : 56;
            return NativeException.check("openat", (int) Libc.syscall(
                    openat, AT_FDCWD, arena.allocateFrom(path).address(), O_CLOEXEC | (writable ? 2 : 0), 0));
        }
    }

    /** Two connected sockets on which what one call sent is what one call receives, no more and no less. */
    public static FileDescriptor[] packetPair() throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(8, 4);
            NativeException.check("socketpair", Libc.socketpair(AF_UNIX, SOCK_SEQPACKET_CLOEXEC, 0, pair.address()));
            return new FileDescriptor[] {
                FileDescriptor.own(pair.get(ValueLayout.JAVA_INT, 0)),
                FileDescriptor.own(pair.get(ValueLayout.JAVA_INT, 4))
            };
        }
    }
}
