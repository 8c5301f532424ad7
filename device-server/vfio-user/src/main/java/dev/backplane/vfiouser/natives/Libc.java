// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The C library's functions. Each returns its result, or the negated error number; interrupted calls are repeated.
 *
 * <p>Pointers are plain addresses, so that a call neither allocates nor checks a segment: the caller keeps the memory
 * alive during the call. The linker itself checks the segment that errno is captured in, and makes a slice of it to do
 * so (40 bytes): the compiler of a hot call removes it.
 *
 * <p>All are called by one handle, as functions of six 64-bit integers that return one: the calling conventions of 64-bit
 * Linux pass an integer argument in a register of its own whatever its width, leave the upper half of a narrow one and the
 * registers of absent ones to be ignored, and treat variable arguments alike. A handle for each function would cost some
 * 13 ms of processor time each when it is linked, that is, most of a server's start. It and the addresses are {@code
 * static final}, so that the compiler makes direct calls of them.
 */
@SuppressWarnings("restricted")
final class Libc {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> CAPTURE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CAPTURE_LAYOUT));

    private static final MethodHandle CALL = LINKER.downcallHandle(
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.captureCallState("errno"));

    private static final MemorySegment SOCKET = symbol("socket");
    private static final MemorySegment SOCKETPAIR = symbol("socketpair");
    private static final MemorySegment BIND = symbol("bind");
    private static final MemorySegment LISTEN = symbol("listen");
    private static final MemorySegment ACCEPT4 = symbol("accept4");
    private static final MemorySegment CONNECT = symbol("connect");
    private static final MemorySegment SHUTDOWN = symbol("shutdown");
    private static final MemorySegment GETSOCKOPT = symbol("getsockopt");
    private static final MemorySegment SETSOCKOPT = symbol("setsockopt");
    private static final MemorySegment RECVMSG = symbol("recvmsg");
    private static final MemorySegment SENDMSG = symbol("sendmsg");
    private static final MemorySegment SEND = symbol("send");
    private static final MemorySegment PREADV2 = symbol("preadv2");
    private static final MemorySegment OPEN = symbol("open");
    private static final MemorySegment IOCTL = symbol("ioctl");
    private static final MemorySegment READ = symbol("read");
    private static final MemorySegment WRITE = symbol("write");
    private static final MemorySegment POLL = symbol("poll");
    private static final MemorySegment CLOSE = symbol("close");
    private static final MemorySegment EVENTFD = symbol("eventfd");
    private static final MemorySegment FTRUNCATE = symbol("ftruncate");
    private static final MemorySegment MEMFD_CREATE = symbol("memfd_create");
    private static final MemorySegment MMAP = symbol("mmap");
    private static final MemorySegment MUNMAP = symbol("munmap");
    private static final MemorySegment MADVISE = symbol("madvise");
    private static final MemorySegment STATX = symbol("statx");
    private static final MemorySegment FCNTL = symbol("fcntl");
    private static final MemorySegment SYSCALL = symbol("syscall");
    private static final MemorySegment CALLOC = symbol("calloc");
    private static final MemorySegment FREE = symbol("free");

    /** The calls that return at once: see {@link EventFd#signal}. Linked when the first of them comes. */
    private static final class Now {
        /** A critical call holds up the garbage collector, and has no errno. */
        static final MethodHandle CALL = LINKER.downcallHandle(
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                Linker.Option.critical(false));

        private Now() {}
    }

    private Libc() {}

    /** Has this class initialized, and that is all. */
    static void link() {
        free(0);
    }

    private static MemorySegment symbol(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
    }

    private static int errno(MemorySegment capture) {
        return (int) ERRNO.get(capture, 0L);
    }

    private static AssertionError unexpected(Throwable t) {
        return new AssertionError("a downcall threw", t);
    }

    /** A function that returns {@code long}, -1 for an error. */
    private static long callLong(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        MemorySegment capture = CAPTURE.get();
        try {
            long r = (long) CALL.invokeExact(function, capture, a, b, c, d, e, f);
            return r == -1 ? -errno(capture) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** A function that returns {@code int}, -1 for an error. */
    private static int call(MemorySegment function, long a, long b, long c, long d, long e) {
        MemorySegment capture = CAPTURE.get();
        try {
            int r = (int) (long) CALL.invokeExact(function, capture, a, b, c, d, e, 0L);
            return r == -1 ? -errno(capture) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static int call(MemorySegment function, long a, long b, long c) {
        return call(function, a, b, c, 0, 0);
    }

    /** As {@link #callLong}, again and again while signals interrupt it. */
    private static long repeat(MemorySegment function, long a, long b, long c, long d, long e) {
        long r;
        do {
            r = callLong(function, a, b, c, d, e, 0);
        } while (r == -Errno.EINTR);
        return r;
    }

    private static long callNow(MemorySegment function, long a, long b, long c, long d) {
        try {
            return (long) Now.CALL.invokeExact(function, a, b, c, d);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int socket(int domain, int type, int protocol) {
        return call(SOCKET, domain, type, protocol);
    }

    static int socketpair(int domain, int type, int protocol, long pair) {
        return call(SOCKETPAIR, domain, type, protocol, pair, 0);
    }

    static int bind(int fd, long address, int bytes) {
        return call(BIND, fd, address, bytes);
    }

    static int listen(int fd, int backlog) {
        return call(LISTEN, fd, backlog, 0);
    }

    /** Accepts without asking for the peer's address. */
    static int accept4(int fd, int flags) {
        int r;
        do {
            r = call(ACCEPT4, fd, 0, 0, flags, 0);
        } while (r == -Errno.EINTR);
        return r;
    }

    static int connect(int fd, long address, int bytes) {
        return call(CONNECT, fd, address, bytes);
    }

    static int shutdown(int fd, int how) {
        return call(SHUTDOWN, fd, how, 0);
    }

    static int getsockopt(int fd, int level, int name, long value, long bytes) {
        return call(GETSOCKOPT, fd, level, name, value, bytes);
    }

    static int setsockopt(int fd, int level, int name, long value, int bytes) {
        return call(SETSOCKOPT, fd, level, name, value, bytes);
    }

    static long recvmsg(int fd, long message, int flags) {
        return repeat(RECVMSG, fd, message, flags, 0, 0);
    }

    static long sendmsg(int fd, long message, int flags) {
        return repeat(SENDMSG, fd, message, flags, 0, 0);
    }

    /** As {@link #sendmsg}, for bytes alone, which takes the kernel less. */
    static long send(int fd, long from, long bytes, int flags) {
        return repeat(SEND, fd, from, bytes, flags, 0);
    }

    /** Reads from where the file is, as {@code readv} with flags. */
    static long readv2(int fd, long vectors, int count, int flags) {
        return repeat(PREADV2, fd, vectors, count, -1, flags);
    }

    static int open(long path, int flags) {
        return call(OPEN, path, flags, 0);
    }

    static int ioctl(int fd, long request, long argument) {
        return call(IOCTL, fd, request, argument);
    }

    static long read(int fd, long to, long bytes) {
        return repeat(READ, fd, to, bytes, 0, 0);
    }

    static long write(int fd, long from, long bytes) {
        return repeat(WRITE, fd, from, bytes, 0, 0);
    }

    /** {@code poll}; an interrupted wait counts as one that found nothing ready, so that the caller keeps its own time. */
    static int poll(long fds, long count, int timeoutMillis) {
        int r = call(POLL, fds, count, timeoutMillis);
        return r == -Errno.EINTR ? 0 : r;
    }

    /** {@code poll} without waiting; critical, without errno. */
    static int pollNow(long fds, long count) {
        return (int) callNow(POLL, fds, count, 0, 0);
    }

    /** {@code write} to a descriptor that was just found writable; critical, without errno. */
    static long writeNow(int fd, long from, long bytes) {
        return callNow(WRITE, fd, from, bytes, 0);
    }

    /** A system call that returns at once; critical, without errno. */
    static long syscallNow(long number, long a, long b, long c) {
        return callNow(SYSCALL, number, a, b, c);
    }

    /** Never repeated: after an interrupted close the descriptor is gone all the same, and may be another's already. */
    static int close(int fd) {
        return call(CLOSE, fd, 0, 0);
    }

    static int fcntl(int fd, int command, int argument) {
        return call(FCNTL, fd, command, argument);
    }

    static int eventfd(int initial, int flags) {
        return call(EVENTFD, initial, flags, 0);
    }

    static int memfdCreate(long name, int flags) {
        return call(MEMFD_CREATE, name, flags, 0);
    }

    static int ftruncate(int fd, long bytes) {
        return call(FTRUNCATE, fd, bytes, 0);
    }

    static int statx(int directory, long path, int flags, int mask, long to) {
        return call(STATX, directory, path, flags, mask, to);
    }

    /** {@code mmap} at an address of the kernel's choice. */
    static long mmap(long bytes, int protection, int flags, int fd, long offset) {
        return callLong(MMAP, 0, bytes, protection, flags, fd, offset);
    }

    static int munmap(long address, long bytes) {
        return call(MUNMAP, address, bytes, 0);
    }

    static int madvise(long address, long bytes, int advice) {
        return call(MADVISE, address, bytes, advice);
    }

    /** A system call that the C library has no function for. */
    static long syscall(long number, long a, long b, long c, long d) {
        return callLong(SYSCALL, number, a, b, c, d, 0);
    }

    /** Zeroed memory, or 0. */
    static long calloc(long bytes) {
        return Math.max(0, callLong(CALLOC, 1, bytes, 0, 0, 0, 0));
    }

    static void free(long address) {
        callLong(FREE, address, 0, 0, 0, 0, 0);
    }
}
