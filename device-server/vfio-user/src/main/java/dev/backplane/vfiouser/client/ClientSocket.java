// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Whole messages to and from a server over one socket. One {@code recvmsg} takes what has come; messages that came
 * together are delivered one after the other. Nothing is allocated for messages that fit the buffers. One thread.
 */
final class ClientSocket implements AutoCloseable {
    private static final int FIRST_BUFFER = 4096;
    private static final int NO_FDS = -1;

    /** A message that has begun is whole soon, or never. */
    private static final int WHOLE_MILLIS = 10_000;

    private static final int[] NONE = {};

    private final FileDescriptor fd;
    private final MessageSocket sending;
    private final MessageSocket receiving;
    private final int largest;
    private final long spinNanos;

    private Arena outArena = Arena.ofShared();
    private Arena inArena = Arena.ofShared();
    private MemorySegment out = outArena.allocate(FIRST_BUFFER, 8);
    private MemorySegment in = inArena.allocate(FIRST_BUFFER, 8);

    /** The current message is [at, at + size); what follows up to end has not been looked at. */
    private int at;

    private int size;
    private int end;

    /** Descriptors came with the byte at this index of the buffer; they belong to the message that has it. */
    private int fdByte = NO_FDS;

    private int[] fds = NONE;

    /**
     * @param fd the socket, owned from here on
     * @param largest size of the largest message that is taken, in bytes
     */
    ClientSocket(FileDescriptor fd, int maxFds, int largest, long spinNanos) {
        this.fd = fd;
        this.sending = new MessageSocket(fd, Math.clamp(maxFds, 1, MessageSocket.MAX_FDS));
        this.receiving = new MessageSocket(fd, MessageSocket.MAX_FDS);
        this.largest = largest;
        this.spinNanos = spinNanos;
    }

    int fd() {
        return fd.value();
    }

    /** The buffer for the next message to send, with room for {@code bytes} bytes. */
    MemorySegment out(int bytes) {
        if (bytes > out.byteSize()) {
            Arena larger = Arena.ofShared();
            out = larger.allocate(bytes, 8);
            outArena.close();
            outArena = larger;
        }
        return out;
    }

    /** Sends what {@link #out} holds. */
    void send(int bytes) throws IOException {
        send(bytes, NONE);
    }

    /** Sends what {@link #out} holds. The descriptors go with the first byte. */
    void send(int bytes, int[] along) throws IOException {
        int sent = 0;
        while (sent < bytes) {
            int n = sending.send(out.address() + sent, bytes - sent, along, sent == 0 ? along.length : 0, 0);
            if (n == -Errno.EPIPE || n == -Errno.ECONNRESET) {
                throw new EOFException("the server has closed the connection");
            }
            if (n < 0) {
                throw new IOException("sendmsg: " + Errno.name(-n));
            }
            sent += n;
        }
    }

    /**
     * Makes the next message the current one. The one before it, and descriptors of it that nobody took, are gone.
     *
     * @param timeoutMillis how long to wait; 0 to look only
     * @return false when none came in time
     * @throws EOFException when the server has closed the connection
     */
    boolean next(int timeoutMillis) throws IOException {
        at += size;
        size = 0;
        if (fdByte != NO_FDS && fdByte < at) {
            closeFds();
        }
        if (at == end) {
            at = 0;
            end = 0;
        }
        while (true) {
            int have = end - at;
            int need = have < Header.BYTES ? Header.BYTES : Header.size(in, at);
            if (have >= Header.BYTES) {
                if (need < Header.BYTES || need > largest) {
                    throw new IOException(
                            "the server sent a message of impossible size " + Integer.toUnsignedLong(need));
                }
                if (have >= need) {
                    size = need;
                    return true;
                }
            }
            makeRoom(need);
            if (!receive(have == 0 ? timeoutMillis : WHOLE_MILLIS)) {
                if (have == 0) {
                    return false;
                }
                throw new IOException("the server sent half a message and stopped");
            }
        }
    }

    MemorySegment in() {
        return in;
    }

    /** Index of the current message's first byte in {@link #in}. */
    int at() {
        return at;
    }

    /** Size of the current message, with its header. */
    int size() {
        return size;
    }

    /** Takes the descriptors of the current message; the caller closes them. */
    int[] takeFds() {
        if (fdByte == NO_FDS || fdByte >= at + size) {
            return NONE;
        }
        int[] taken = fds;
        fds = NONE;
        fdByte = NO_FDS;
        return taken;
    }

    /** Whether something has been received that {@link #next} has not delivered. */
    boolean hasMore() {
        return end > at + size;
    }

    private boolean receive(int timeoutMillis) throws IOException {
        int n = receiving.receive(in.address() + end, (int) in.byteSize() - end, MessageSocket.DONT_WAIT);
        if (n == -Errno.EAGAIN) {
            n = spin(timeoutMillis);
        }
        if (n == -Errno.EAGAIN) {
            if (timeoutMillis == 0 || receiving.awaitReadable(timeoutMillis) == 0) {
                return false;
            }
            n = receiving.receive(in.address() + end, (int) in.byteSize() - end, MessageSocket.DONT_WAIT);
        }
        if (n == 0 || n == -Errno.ECONNRESET) {
            throw new EOFException("the server has closed the connection");
        }
        if (n < 0) {
            if (n == -Errno.EAGAIN) {
                return true;
            }
            throw new IOException("recvmsg: " + Errno.name(-n));
        }
        end += n;
        if (receiving.fds() > 0) {
            takeReceived();
        }
        return true;
    }

    private int spin(int timeoutMillis) {
        int n = -Errno.EAGAIN;
        if (timeoutMillis > 0 && spinNanos > 0) {
            long until = System.nanoTime() + spinNanos;
            while (n == -Errno.EAGAIN && System.nanoTime() < until) {
                Thread.onSpinWait();
                n = receiving.receive(in.address() + end, (int) in.byteSize() - end, MessageSocket.DONT_WAIT);
            }
        }
        return n;
    }

    private void takeReceived() {
        closeFds();
        fds = new int[receiving.fds()];
        for (int i = 0; i < fds.length; i++) {
            fds[i] = receiving.fd(i);
        }
        fdByte = end - 1;
    }

    /** Makes the buffer able to hold {@code need} bytes from the current position on. */
    private void makeRoom(int need) {
        if (at + need <= in.byteSize()) {
            return;
        }
        int have = end - at;
        if (need > in.byteSize()) {
            Arena larger = Arena.ofShared();
            MemorySegment grown = larger.allocate(need, 8);
            MemorySegment.copy(in, at, grown, 0, have);
            inArena.close();
            inArena = larger;
            in = grown;
        } else {
            MemorySegment.copy(in, at, in, 0, have);
        }
        if (fdByte != NO_FDS) {
            fdByte -= at;
        }
        at = 0;
        end = have;
    }

    private void closeFds() {
        for (int f : fds) {
            FileDescriptor.close(f);
        }
        fds = NONE;
        fdByte = NO_FDS;
    }

    @Override
    public void close() {
        closeFds();
        fd.close();
        sending.close();
        receiving.close();
        outArena.close();
        inArena.close();
    }

    /** The 16 bytes that begin each message. */
    static final class Header {
        static final int BYTES = 16;

        private Header() {}

        static void put(MemorySegment s, int id, int command, int size, int flags) {
            s.set(JAVA_SHORT, 0, (short) id);
            s.set(JAVA_SHORT, 2, (short) command);
            s.set(JAVA_INT, 4, size);
            s.set(JAVA_INT, 8, flags);
            s.set(JAVA_INT, 12, 0);
        }

        static int id(MemorySegment s, int at) {
            return s.get(JAVA_SHORT.withByteAlignment(1), at) & 0xffff;
        }

        static int size(MemorySegment s, int at) {
            return s.get(JAVA_INT.withByteAlignment(1), at + 4L);
        }
    }
}
