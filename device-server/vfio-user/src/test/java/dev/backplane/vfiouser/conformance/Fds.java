// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.natives.RawCalls;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Descriptors as plain numbers, for tests that send them anywhere and count them. */
public final class Fds {
    /** The greatest value of an event counter (eventfd(2)). */
    private static final long FULL = 0xffff_ffff_ffff_fffeL;

    private Fds() {}

    public static int memfd(long bytes) {
        try {
            return MemoryFile.resizable("conformance", bytes).release();
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    /** Changes a file's size. */
    public static void truncate(int fd, long bytes) {
        try {
            MemoryFile.resize(FileDescriptor.own(fd), bytes);
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    public static int eventfd() {
        try {
            return EventFd.create().fd().release();
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    /** Takes and returns the count of an event descriptor. */
    public static long take(int fd) {
        try {
            return EventFd.of(FileDescriptor.own(fd)).read();
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits for an event; fails when none comes. */
    public static long await(int fd) {
        try {
            if (!Poll.readable(fd, RawPeer.LIMIT_MILLIS)) {
                throw new AssertionError("no event on descriptor " + fd);
            }
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
        return take(fd);
    }

    /** Raises an event counter to its limit, where a write would block. */
    public static void fill(int fd) {
        try {
            RawCalls.writeLong(fd, FULL);
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    /** Two connected sockets. */
    public static int[] socketPair() {
        try {
            FileDescriptor[] pair = UnixSocket.pair();
            return new int[] {pair[0].release(), pair[1].release()};
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    /** Maps a part of a file, shared. */
    public static MemorySegment map(int fd, long offset, long bytes, Arena arena) {
        try {
            return MemoryFile.map(fd, offset, bytes, true, arena);
        } catch (NativeException e) {
            throw new AssertionError(e);
        }
    }

    public static void close(int fd) {
        FileDescriptor.close(fd);
    }

    /** Number of descriptors that this process has open. */
    public static int count() {
        try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
            return (int) entries.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until at most {@code most} descriptors are open; returns how many are, at last. */
    public static int awaitCount(int most) {
        long end = System.nanoTime() + RawPeer.LIMIT_MILLIS * 1_000_000L;
        int n = count();
        while (n > most && System.nanoTime() < end) {
            Thread.onSpinWait();
            n = count();
        }
        return n;
    }
}
