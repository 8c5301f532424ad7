// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Waits for one or two descriptors. For waits that are rare: it allocates. */
public final class Poll {
    private static final int POLLIN = 1;
    private static final int POLLOUT = 4;

    private Poll() {}

    /**
     * Waits until {@code fd} has something to read, has been hung up, or the time has passed.
     *
     * @param timeoutMillis -1 to wait for ever
     */
    public static boolean readable(int fd, int timeoutMillis) throws NativeException {
        return await(fd, POLLIN, timeoutMillis);
    }

    /** Waits until {@code fd} takes something to write, has been hung up, or the time has passed. */
    public static boolean writable(int fd, int timeoutMillis) throws NativeException {
        return await(fd, POLLOUT, timeoutMillis);
    }

    /**
     * Waits until either descriptor has something to read, or the time has passed.
     *
     * @return bit 0 set when it is the first, bit 1 when it is the second
     */
    public static int readable(int first, int second, int timeoutMillis) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment p = arena.allocate(16, 4);
            p.set(JAVA_INT, 0, first);
            p.set(JAVA_INT, 4, POLLIN);
            p.set(JAVA_INT, 8, second);
            p.set(JAVA_INT, 12, POLLIN);
            NativeException.check("poll", Libc.poll(p.address(), 2, timeoutMillis));
            return (p.get(JAVA_INT, 4) >>> 16 != 0 ? 1 : 0) | (p.get(JAVA_INT, 12) >>> 16 != 0 ? 2 : 0);
        }
    }

    private static boolean await(int fd, int events, int timeoutMillis) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment p = arena.allocate(8, 4);
            p.set(JAVA_INT, 0, fd);
            p.set(JAVA_INT, 4, events);
            return NativeException.check("poll", Libc.poll(p.address(), 1, timeoutMillis)) > 0;
        }
    }
}
