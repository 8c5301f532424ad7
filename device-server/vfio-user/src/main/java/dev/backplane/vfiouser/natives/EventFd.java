// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An event descriptor, our own or one that a peer gave us to signal.
 *
 * <p>{@link #signal} never waits, whoever made the descriptor, in whatever mode it is and whatever its other owners do with
 * it: see {@link AioSignal}. Where the kernel has no asynchronous I/O it asks whether a write would wait and then writes,
 * which leaves a moment in which a hostile peer can fill the counter. Setting O_NONBLOCK would change the peer's own
 * descriptor too, and the peer could change it back. Any thread may signal; closing must come after the last signal.
 */
public final class EventFd implements AutoCloseable {
    private static final int EFD_CLOEXEC = 0x80000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final short POLLOUT = 4;
    private static final int RWF_NOWAIT = 8;
    private static final int IOV = 8;
    private static final int VALUE = 24;
    private static final int AIO = 32;
    private static final String LINK = "anon_inode:[eventfd]";

    /** The value 1, which every signal adds. */
    private static final MemorySegment ONE = one();

    private final FileDescriptor fd;

    /**
     * {@code struct pollfd}, then {@code struct iovec} and the value that it receives, then what {@link AioSignal} needs.
     * Threads that signal at once write the same answers into the first, and only the result counts.
     */
    private final MemorySegment poll = Arena.ofAuto().allocate(AIO + AioSignal.BYTES, 8);

    private final boolean aio = AioSignal.available();

    private EventFd(FileDescriptor fd) {
        this.fd = fd;
        poll.set(JAVA_INT, 0, fd.value());
        poll.set(JAVA_INT, 4, POLLOUT);
        poll.set(JAVA_LONG, IOV, poll.address() + VALUE);
        poll.set(JAVA_LONG, IOV + 8, 8);
        if (aio) {
            AioSignal.prepare(poll, AIO, fd.value());
        }
    }

    private static MemorySegment one() {
        MemorySegment s = Arena.global().allocate(8, 8);
        s.set(JAVA_LONG, 0, 1);
        return s.asReadOnly();
    }

    /** A new descriptor with counter 0, on which {@link #read} does not wait. */
    public static EventFd create() throws NativeException {
        return new EventFd(
                FileDescriptor.own(NativeException.check("eventfd", Libc.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))));
    }

    /** Takes the ownership of a peer's event descriptor. */
    public static EventFd of(FileDescriptor fd) {
        return new EventFd(fd);
    }

    /** Whether a descriptor is an event descriptor; a write to anything else might wait. */
    public static boolean isEventFd(int fd) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(fd)))
                    .toString()
                    .equals(LINK);
        } catch (IOException e) {
            return false;
        }
    }

    /** The descriptor, which this object owns. */
    public FileDescriptor fd() {
        return fd;
    }

    /**
     * Adds 1 to the counter, which stays as it is when it is full. Neither waits nor allocates.
     *
     * @return false when it was found to be full; the peer has a signal to read then all the same
     */
    public boolean signal() {
        if (aio && AioSignal.submit(poll.address() + AIO)) {
            return true;
        }
        return Libc.pollNow(poll.address(), 1) == 1 && Libc.writeNow(poll.get(JAVA_INT, 0), ONE.address(), 8) == 8;
    }

    /**
     * Takes and returns the counter: 0 when there was no signal. Never waits, whoever made the descriptor and whoever else
     * reads it. One thread at a time.
     */
    public long read() throws NativeException {
        long r = Libc.readv2(fd.value(), poll.address() + IOV, 1, RWF_NOWAIT);
        if (r == -Errno.EAGAIN) {
            return 0;
        }
        NativeException.check("read(eventfd)", (int) r);
        return poll.get(JAVA_LONG, VALUE);
    }

    /** Waits until there is a signal to read, or the time has passed. Returns whether there is one. */
    public boolean await(int timeoutMillis) throws NativeException {
        return Poll.readable(fd.value(), timeoutMillis);
    }

    @Override
    public void close() {
        fd.close();
    }
}
