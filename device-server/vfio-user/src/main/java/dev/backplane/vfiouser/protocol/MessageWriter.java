// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeBuffer;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.StreamException.Reason;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/**
 * Builds messages and sends each whole, header and payload in one system call, with its descriptors on the first byte: a
 * client such as QEMU takes descriptors only together with a header, and gives up on a header that comes in parts.
 * Nothing is allocated for a message that fits the buffer.
 *
 * <p>A message is built and sent by one thread at a time. Several writers may share a socket; the {@link SendLock} keeps
 * their messages apart.
 */
public final class MessageWriter implements AutoCloseable {
    private static final int BASE_BYTES = 4 << 10;
    private static final int[] NO_FDS = {};

    private final FileDescriptor fd;
    private final MessageSocket socket;
    private final SendLock lock;

    private NativeBuffer buffer = NativeBuffer.allocate(BASE_BYTES);
    private MemorySegment bytes = buffer.segment();
    private int peak = BASE_BYTES;

    public MessageWriter(FileDescriptor fd, SendLock lock) {
        this.fd = fd;
        this.socket = new MessageSocket(fd, MessageSocket.MAX_FDS);
        this.lock = lock;
    }

    /**
     * The memory for a message whose payload has at most {@code bodyBytes} bytes: the payload starts at {@link
     * Header#BYTES} and holds anything, so all of what is sent has to be written. Good until the next call.
     */
    public MemorySegment begin(int bodyBytes) {
        int need = Header.BYTES + bodyBytes;
        if (need > bytes.byteSize()) {
            resize(need);
        }
        return bytes;
    }

    /** Gives the memory of a large message back. */
    private void shrink() {
        if (bytes.byteSize() > BASE_BYTES) {
            resize(BASE_BYTES);
        }
    }

    private void resize(int capacity) {
        buffer.close();
        buffer = NativeBuffer.allocate(capacity);
        bytes = buffer.segment();
        peak = Math.max(peak, capacity);
    }

    /** Bytes outside the heap that are held now. Any thread may ask; it may have changed by the time of the answer. */
    public int heldBytes() {
        return buffer.bytes() + socket.bytes();
    }

    /** The most bytes outside the heap that were ever held at a time. Any thread, as {@link #heldBytes}. */
    public int peakBytes() {
        return peak + socket.bytes();
    }

    /** Sends a message without descriptors; waits for as long as the peer takes. */
    public void send(int id, int command, int flags, int error, int bodyBytes) throws StreamException {
        send(id, command, flags, error, bodyBytes, NO_FDS, 0);
    }

    /** Sends a message with {@code count} descriptors, which stay the caller's. */
    public void send(int id, int command, int flags, int error, int bodyBytes, int[] fds, int count)
            throws StreamException {
        int size = Header.BYTES + bodyBytes;
        Header.write(bytes, id, command, size, flags, error);
        lock.lock();
        try {
            int n = socket.send(buffer.address(), size, fds, count, 0);
            int sent = accept(n);
            while (sent < size) {
                sent += accept(socket.send(buffer.address() + sent, size - sent, NO_FDS, 0, 0));
            }
        } finally {
            lock.unlock();
        }
        shrink();
    }

    /**
     * Sends a message unless the peer does not take it in time.
     *
     * @return false when the time has passed and nothing was sent
     * @throws StreamException when the time has passed inside the message: the connection has been ended then
     */
    public boolean trySend(int id, int command, int flags, int error, int bodyBytes, long timeoutNanos)
            throws StreamException {
        long deadline = System.nanoTime() + timeoutNanos;
        int size = Header.BYTES + bodyBytes;
        Header.write(bytes, id, command, size, flags, error);
        try {
            if (!lock.tryLock(timeoutNanos)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        try {
            int sent = 0;
            while (sent < size) {
                int n = socket.send(buffer.address() + sent, size - sent, NO_FDS, 0, MessageSocket.DONT_WAIT);
                if (n == -Errno.EAGAIN) {
                    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                    if (left > 0) {
                        waitForRoom((int) Math.min(left, Integer.MAX_VALUE));
                    } else if (sent == 0) {
                        return false;
                    } else {
                        UnixSocket.shutdown(fd);
                        throw new StreamException(
                                Reason.STUCK, "the peer took " + sent + " of " + size + " bytes of a message");
                    }
                } else {
                    sent += accept(n);
                }
            }
        } finally {
            lock.unlock();
        }
        shrink();
        return true;
    }

    private void waitForRoom(int millis) throws StreamException {
        try {
            Poll.writable(fd.value(), millis);
        } catch (NativeException e) {
            throw new StreamException(Reason.PEER_GONE, e.getMessage());
        }
    }

    private static int accept(int n) throws StreamException {
        if (n <= 0) {
            throw new StreamException(Reason.PEER_GONE, Errno.name(-n));
        }
        return n;
    }

    /** Frees the buffer. The socket is its owner's to close. */
    @Override
    public void close() {
        socket.close();
        buffer.close();
    }
}
