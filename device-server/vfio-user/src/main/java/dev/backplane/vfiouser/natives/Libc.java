// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
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
 * alive during the call. The handles are {@code static final} so that the compiler can inline them.
 */
@SuppressWarnings("restricted")
final class Libc {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CAPTURE_LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CAPTURE_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> CAPTURE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CAPTURE_LAYOUT));

    private static final MethodHandle SOCKET = function("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle SOCKETPAIR =
            function("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle BIND = function("bind", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle LISTEN = function("listen", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle ACCEPT4 = function("accept4", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CONNECT = function("connect", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SHUTDOWN = function("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle GETSOCKOPT =
            function("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SETSOCKOPT =
            function("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECVMSG = function("recvmsg", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SENDMSG = function("sendmsg", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle READ = function("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PREADV2 =
            function("preadv2", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle WRITE = function("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle POLL = function("poll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CLOSE = function("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD = function("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle FTRUNCATE = function("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MEMFD_CREATE = function("memfd_create", JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle MMAP =
            function("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = function("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MADVISE = function("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle STATX =
            function("statx", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle CALLOC =
            LINKER.downcallHandle(symbol("calloc"), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FREE =
            LINKER.downcallHandle(symbol("free"), FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle FCNTL = LINKER.downcallHandle(
            symbol("fcntl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT),
            Linker.Option.captureCallState("errno"),
            Linker.Option.firstVariadicArg(2));
    private static final MethodHandle SYSCALL = LINKER.downcallHandle(
            symbol("syscall"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.captureCallState("errno"),
            Linker.Option.firstVariadicArg(1));

    // Critical calls hold up the garbage collector: only these, which return at once (see EventFd.signal).
    private static final MethodHandle SYSCALL_NOW = LINKER.downcallHandle(
            symbol("syscall"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.critical(false),
            Linker.Option.firstVariadicArg(1));
    private static final MethodHandle POLL_NOW = critical("poll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle WRITE_NOW = critical("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);

    private Libc() {}

    private static MemorySegment symbol(String name) {
        return LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsatisfiedLinkError("the C library has no " + name));
    }

    /** A function that sets errno. */
    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                symbol(name), FunctionDescriptor.of(result, arguments), Linker.Option.captureCallState("errno"));
    }

    private static MethodHandle critical(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                symbol(name), FunctionDescriptor.of(result, arguments), Linker.Option.critical(false));
    }

    private static int errno(MemorySegment capture) {
        return (int) ERRNO.get(capture, 0L);
    }

    private static AssertionError unexpected(Throwable t) {
        return new AssertionError("a downcall threw", t);
    }

    static int socket(int domain, int type, int protocol) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) SOCKET.invokeExact(c, domain, type, protocol);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int socketpair(int domain, int type, int protocol, long pair) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) SOCKETPAIR.invokeExact(c, domain, type, protocol, pair);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int bind(int fd, long address, int bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) BIND.invokeExact(c, fd, address, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int listen(int fd, int backlog) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) LISTEN.invokeExact(c, fd, backlog);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Accepts without asking for the peer's address. */
    static int accept4(int fd, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            int r;
            do {
                r = (int) ACCEPT4.invokeExact(c, fd, 0L, 0L, flags);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int connect(int fd, long address, int bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) CONNECT.invokeExact(c, fd, address, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int shutdown(int fd, int how) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) SHUTDOWN.invokeExact(c, fd, how);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int getsockopt(int fd, int level, int name, long value, long bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) GETSOCKOPT.invokeExact(c, fd, level, name, value, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int setsockopt(int fd, int level, int name, long value, int bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) SETSOCKOPT.invokeExact(c, fd, level, name, value, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long recvmsg(int fd, long message, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            long r;
            do {
                r = (long) RECVMSG.invokeExact(c, fd, message, flags);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long sendmsg(int fd, long message, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            long r;
            do {
                r = (long) SENDMSG.invokeExact(c, fd, message, flags);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long read(int fd, long to, long bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            long r;
            do {
                r = (long) READ.invokeExact(c, fd, to, bytes);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Reads from where the file is, as {@code readv} with flags. */
    static long readv2(int fd, long vectors, int count, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            long r;
            do {
                r = (long) PREADV2.invokeExact(c, fd, vectors, count, -1L, flags);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long write(int fd, long from, long bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            long r;
            do {
                r = (long) WRITE.invokeExact(c, fd, from, bytes);
            } while (r < 0 && errno(c) == Errno.EINTR);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@code poll}; an interrupted wait counts as one that found nothing ready, so that the caller keeps its own time. */
    static int poll(long fds, long count, int timeoutMillis) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) POLL.invokeExact(c, fds, count, timeoutMillis);
            if (r < 0) {
                return errno(c) == Errno.EINTR ? 0 : -errno(c);
            }
            return r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@code poll} without waiting; critical, without errno. */
    static int pollNow(long fds, long count) {
        try {
            return (int) POLL_NOW.invokeExact(fds, count, 0);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@code write} to a descriptor that was just found writable; critical, without errno. */
    static long writeNow(int fd, long from, long bytes) {
        try {
            return (long) WRITE_NOW.invokeExact(fd, from, bytes);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Never repeated: after an interrupted close the descriptor is gone all the same, and may be another's already. */
    static int close(int fd) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) CLOSE.invokeExact(c, fd);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int fcntl(int fd, int command, int argument) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) FCNTL.invokeExact(c, fd, command, argument);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int eventfd(int initial, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) EVENTFD.invokeExact(c, initial, flags);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int memfdCreate(long name, int flags) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) MEMFD_CREATE.invokeExact(c, name, flags);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int ftruncate(int fd, long bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) FTRUNCATE.invokeExact(c, fd, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int statx(int directory, long path, int flags, int mask, long to) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) STATX.invokeExact(c, directory, path, flags, mask, to);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** {@code mmap} at an address of the kernel's choice. */
    static long mmap(long bytes, int protection, int flags, int fd, long offset) {
        MemorySegment c = CAPTURE.get();
        try {
            long r = (long) MMAP.invokeExact(c, 0L, bytes, protection, flags, fd, offset);
            return r == -1 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int munmap(long address, long bytes) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) MUNMAP.invokeExact(c, address, bytes);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static int madvise(long address, long bytes, int advice) {
        MemorySegment c = CAPTURE.get();
        try {
            int r = (int) MADVISE.invokeExact(c, address, bytes, advice);
            return r < 0 ? -errno(c) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** A system call that the C library has no function for. */
    static long syscall(long number, long a, long b, long c, long d) {
        MemorySegment capture = CAPTURE.get();
        try {
            long r = (long) SYSCALL.invokeExact(capture, number, a, b, c, d);
            return r < 0 ? -errno(capture) : r;
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** A system call that returns at once; critical, without errno. */
    static long syscallNow(long number, long a, long b, long c) {
        try {
            return (long) SYSCALL_NOW.invokeExact(number, a, b, c);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** Zeroed memory, or 0. */
    static long calloc(long bytes) {
        try {
            return (long) CALLOC.invokeExact(1L, bytes);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static void free(long address) {
        try {
            FREE.invokeExact(address);
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }
}
