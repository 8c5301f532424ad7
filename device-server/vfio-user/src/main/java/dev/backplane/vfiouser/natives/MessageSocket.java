// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * One direction of a connected Unix socket, bytes together with file descriptors ({@code recvmsg}, {@code sendmsg}). The
 * structures that the calls need are made once; a call allocates nothing. Confined to one thread at a time.
 */
public final class MessageSocket implements AutoCloseable {
    /** Most descriptors that one {@code sendmsg} takes (SCM_MAX_FD of the kernel). */
    public static final int MAX_FDS = 253;

    /** Flag: do not wait. */
    public static final int DONT_WAIT = 0x40;

    private static final int MSG_CTRUNC = 8;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int POLLIN = 1;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;

    // struct msghdr, struct iovec and struct cmsghdr of 64-bit Linux.
    private static final int HDR = 0;
    private static final int HDR_IOV = 16;
    private static final int HDR_IOVLEN = 24;
    private static final int HDR_CONTROL = 32;
    private static final int HDR_CONTROLLEN = 40;
    private static final int HDR_FLAGS = 48;
    private static final int IOV = 56;
    /** {@code struct pollfd}, 8 bytes. */
    private static final int POLL = 72;

    private static final int CONTROL = 80;
    private static final int CMSG_LEN = CONTROL;
    private static final int CMSG_LEVEL = CONTROL + 8;
    private static final int CMSG_TYPE = CONTROL + 12;
    private static final int CMSG_DATA = CONTROL + 16;

    private final NativeBuffer structures;
    private final MemorySegment s;
    private final long address;
    private final int fd;
    private final int maxFds;

    /**
     * @param fd the socket, which its owner closes after this object
     * @param maxFds most descriptors in one call; to receive, {@link #MAX_FDS} makes sure that none is lost
     */
    public MessageSocket(FileDescriptor fd, int maxFds) {
        this.fd = fd.value();
        this.maxFds = maxFds;
        this.structures = NativeBuffer.allocate(Math.toIntExact(CONTROL + controlBytes(maxFds)));
        this.s = structures.segment();
        this.address = structures.address();
        s.set(JAVA_LONG, HDR_IOV, address + IOV);
        s.set(JAVA_LONG, HDR_IOVLEN, 1);
    }

    /** CMSG_SPACE: the structure with its padding. */
    private static long controlBytes(int fds) {
        return 16 + (fds * 4L + 7) / 8 * 8;
    }

    /**
     * Receives what has come, at most {@code bytes} bytes.
     *
     * @param to an address at which {@code bytes} bytes may be written
     * @return number of bytes, 0 when the peer has ended the connection, or the negated error number
     */
    public int receive(long to, int bytes, int flags) {
        s.set(JAVA_LONG, IOV, to);
        s.set(JAVA_LONG, IOV + 8, bytes);
        s.set(JAVA_LONG, HDR_CONTROL, address + CONTROL);
        s.set(JAVA_LONG, HDR_CONTROLLEN, controlBytes(maxFds));
        return (int) Libc.recvmsg(fd, address + HDR, flags | MSG_CMSG_CLOEXEC);
    }

    /** Whether descriptors came with the last {@link #receive} that found no room, here or in the process, and are lost. */
    public boolean truncated() {
        return (s.get(JAVA_INT, HDR_FLAGS) & MSG_CTRUNC) != 0;
    }

    /** Number of descriptors that came with the last {@link #receive}; the caller owns them. */
    public int fds() {
        long control = s.get(JAVA_LONG, HDR_CONTROLLEN);
        if (control < 16 || s.get(JAVA_INT, CMSG_LEVEL) != SOL_SOCKET || s.get(JAVA_INT, CMSG_TYPE) != SCM_RIGHTS) {
            return 0;
        }
        return (int) ((s.get(JAVA_LONG, CMSG_LEN) - 16) / 4);
    }

    /** The {@code i}-th descriptor of the last {@link #receive}. */
    public int fd(int i) {
        return s.get(JAVA_INT, CMSG_DATA + 4L * i);
    }

    /**
     * Sends bytes and, with the first of them, descriptors.
     *
     * @param from an address from which {@code bytes} bytes may be read
     * @param fds descriptors, of which the first {@code count} go along and stay the caller's
     * @return number of bytes sent, or the negated error number; {@code EPIPE} when the peer is gone
     */
    public int send(long from, int bytes, int[] fds, int count, int flags) {
        if (count == 0) {
            return (int) Libc.send(fd, from, bytes, flags | MSG_NOSIGNAL);
        }
        if (count > maxFds) {
            throw new IllegalArgumentException(count + " descriptors, room for " + maxFds);
        }
        s.set(JAVA_LONG, IOV, from);
        s.set(JAVA_LONG, IOV + 8, bytes);
        s.set(JAVA_LONG, HDR_CONTROL, address + CONTROL);
        s.set(JAVA_LONG, HDR_CONTROLLEN, controlBytes(count));
        s.set(JAVA_LONG, CMSG_LEN, 16 + 4L * count);
        s.set(JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
        s.set(JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
        for (int i = 0; i < count; i++) {
            s.set(JAVA_INT, CMSG_DATA + 4L * i, fds[i]);
        }
        return (int) Libc.sendmsg(fd, address + HDR, flags | MSG_NOSIGNAL);
    }

    /**
     * Waits until there is something to receive, the peer has gone, or the time has passed. Allocates nothing.
     *
     * @return 1 when a {@link #receive} would not wait, 0 when it might, or the negated error number
     */
    public int awaitReadable(int timeoutMillis) {
        s.set(JAVA_INT, POLL, fd);
        s.set(JAVA_INT, POLL + 4, POLLIN);
        return Libc.poll(address + POLL, 1, timeoutMillis);
    }

    /** Bytes outside the heap that the structures take. */
    public int bytes() {
        return (int) s.byteSize();
    }

    /** Frees the structures. Only when no call can be running. */
    @Override
    public void close() {
        structures.close();
    }
}
