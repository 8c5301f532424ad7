// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The owner of one file descriptor: who holds this object decides when it is closed. Closing twice does nothing, so that
 * a number which the kernel has given to somebody else by now is never closed. Any thread may close.
 */
public final class FileDescriptor implements AutoCloseable {
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int CLOSED = -1;

    private final AtomicInteger fd;

    private FileDescriptor(int fd) {
        this.fd = new AtomicInteger(fd);
    }

    /** Takes the ownership of a descriptor, such as one that came with a message. */
    public static FileDescriptor own(int fd) {
        if (fd < 0) {
            throw new IllegalArgumentException("not a file descriptor: " + fd);
        }
        return new FileDescriptor(fd);
    }

    /** Closes a descriptor that nobody owns; a bad number is ignored. */
    public static void close(int fd) {
        if (fd >= 0) {
            Libc.close(fd);
        }
    }

    /** The descriptor's number. Throws {@link IllegalStateException} after {@link #close()}. */
    public int value() {
        int value = fd.get();
        if (value == CLOSED) {
            throw new IllegalStateException("the file descriptor is closed");
        }
        return value;
    }

    public boolean isClosed() {
        return fd.get() == CLOSED;
    }

    /** Gives the descriptor away: this object does not close it any more. */
    public int release() {
        int value = fd.getAndSet(CLOSED);
        if (value == CLOSED) {
            throw new IllegalStateException("the file descriptor is closed");
        }
        return value;
    }

    /** Another descriptor of the same open file. */
    public FileDescriptor duplicate() throws NativeException {
        return new FileDescriptor(NativeException.check("dup", Libc.fcntl(value(), F_DUPFD_CLOEXEC, 0)));
    }

    /** Makes calls on the open file return {@code EAGAIN} instead of waiting. All who share the open file are affected. */
    public void setNonBlocking() throws NativeException {
        int flags = NativeException.check("fcntl(F_GETFL)", Libc.fcntl(value(), F_GETFL, 0));
        NativeException.check("fcntl(F_SETFL)", Libc.fcntl(value(), F_SETFL, flags | O_NONBLOCK));
    }

    @Override
    public void close() {
        int value = fd.getAndSet(CLOSED);
        if (value != CLOSED) {
            Libc.close(value);
        }
    }

    @Override
    public String toString() {
        return "fd " + fd.get();
    }
}
