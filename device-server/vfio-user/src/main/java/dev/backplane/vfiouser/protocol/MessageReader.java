// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeBuffer;
import dev.backplane.vfiouser.protocol.StreamException.Reason;
import java.lang.foreign.MemorySegment;

/**
 * Reads messages from a connected socket, however the stream cuts or glues them, usually with one system call for each.
 * Nothing is allocated for a message that fits the buffer; a larger one makes the buffer grow as its bytes arrive, never
 * on its header's word alone, and the buffer shrinks again when the reader has caught up.
 *
 * <p>{@link #receive} makes the next message current; all accessors refer to it, offsets are those in its payload and are
 * the caller's to check against {@link #bodyBytes()}. Confined to one thread.
 */
public final class MessageReader implements AutoCloseable {
    private static final int BASE_BYTES = 16 << 10;

    private final MessageSocket socket;
    private final AdaptiveSpin spin;
    private final int maxMessage;
    private final DescriptorQueue descriptors = new DescriptorQueue();

    private NativeBuffer buffer = NativeBuffer.allocate(BASE_BYTES);
    private MemorySegment bytes = buffer.segment();
    private int peak = BASE_BYTES;

    /** Position in the stream of the buffer's first byte. */
    private long base;

    /** The current message, or the one that is arriving, starts here in the buffer; what has arrived ends at end. */
    private int start;

    private int end;

    /** Size of the current message; 0 before the first and while one is arriving. */
    private int size;

    /**
     * @param maxMessage largest message, with header; a header that says more ends the connection
     */
    public MessageReader(FileDescriptor socket, int maxMessage, AdaptiveSpin spin) {
        this.socket = new MessageSocket(socket, MessageSocket.MAX_FDS);
        this.spin = spin;
        this.maxMessage = maxMessage;
    }

    /**
     * Waits for the next message. Descriptors that nobody took from the one before are closed.
     *
     * @throws StreamException when the connection has ended or cannot be trusted; with {@link Reason#BAD_SIZE} the
     *     header's fields can be read
     */
    public void receive() throws StreamException {
        receive(-1);
    }

    /**
     * As {@link #receive()}, within a limit of time.
     *
     * @param timeoutMillis how long to wait for each part of a message; negative for as long as it takes
     * @return false when no message has begun to arrive in time
     * @throws StreamException also when one has begun and has not gone on in time
     */
    public boolean receive(int timeoutMillis) throws StreamException {
        descriptors.closeCurrent();
        start += size;
        size = 0;
        if (start == end) {
            base += end;
            start = 0;
            end = 0;
        }
        while (true) {
            int have = end - start;
            int need = Header.BYTES;
            if (have >= Header.BYTES) {
                need = bytes.get(Wire.U32, (long) start + Header.SIZE);
                if (need < Header.BYTES || need > maxMessage) {
                    throw new StreamException(
                            Reason.BAD_SIZE,
                            "a header says " + Integer.toUnsignedString(need) + " bytes, allowed are " + Header.BYTES
                                    + " to " + maxMessage);
                }
                if (have >= need) {
                    size = need;
                    descriptors.makeCurrent(base + start);
                    return true;
                }
            }
            makeRoom(need);
            if (!read(timeoutMillis)) {
                if (have == 0) {
                    return false;
                }
                throw new StreamException(Reason.STUCK, "the peer stopped " + have + " bytes into a message");
            }
        }
    }

    /** Makes sure that at least one byte more of a message of {@code need} bytes can be read. */
    private void makeRoom(int need) {
        int have = end - start;
        if (have == 0 && bytes.byteSize() > BASE_BYTES) {
            move(BASE_BYTES);
        } else if (start + need > bytes.byteSize()) {
            if (have == bytes.byteSize()) {
                // Old and new buffer together stay under twice the largest message: the last step is not a small one.
                move(need <= 3 * bytes.byteSize() ? roundUp(need) : 2 * (int) bytes.byteSize());
            } else if (start > 0) {
                move((int) bytes.byteSize());
            }
        }
    }

    private static int roundUp(int n) {
        return (n + 4095) & ~4095;
    }

    /** Moves what there is to the start of a buffer of {@code capacity} bytes. */
    private void move(int capacity) {
        int have = end - start;
        if (capacity == bytes.byteSize()) {
            MemorySegment.copy(bytes, start, bytes, 0, have);
        } else {
            NativeBuffer other = NativeBuffer.allocate(capacity);
            peak = Math.max(peak, capacity + buffer.bytes());
            MemorySegment.copy(bytes, start, other.segment(), 0, have);
            buffer.close();
            buffer = other;
            bytes = other.segment();
        }
        base += start;
        start = 0;
        end = have;
    }

    /** Bytes outside the heap that are held now. Any thread may ask; it may have changed by the time of the answer. */
    public int heldBytes() {
        return buffer.bytes() + socket.bytes();
    }

    /** The most bytes outside the heap that were ever held at a time. Any thread, as {@link #heldBytes}. */
    public int peakBytes() {
        return peak + socket.bytes();
    }

    /** Whether there is more to deliver, in whole or in part, without asking the kernel. */
    public boolean hasMore() {
        return end > start + size;
    }

    private boolean read(int timeoutMillis) throws StreamException {
        int n = spin.receive(socket, buffer.address() + end, (int) bytes.byteSize() - end, timeoutMillis);
        if (n == -Errno.EAGAIN) {
            return false;
        }
        if (n <= 0) {
            if (n == 0 && end > start) {
                throw new StreamException(
                        Reason.CUT_SHORT, "the peer ended the connection " + (end - start) + " bytes into a message");
            }
            throw new StreamException(Reason.PEER_GONE, n == 0 ? "end of stream" : Errno.name(-n));
        }
        end += n;
        int count = socket.fds();
        if (count > 0) {
            long owner = base + lastMessageStart();
            for (int i = 0; i < count; i++) {
                if (!descriptors.add(socket.fd(i), owner)) {
                    for (int j = i; j < count; j++) {
                        FileDescriptor.close(socket.fd(j));
                    }
                    throw new StreamException(
                            Reason.TOO_MANY_DESCRIPTORS,
                            "more than " + DescriptorQueue.CAPACITY + " descriptors before a message was complete");
                }
            }
        }
        if (socket.truncated()) {
            throw new StreamException(
                    Reason.LOST_DESCRIPTORS, "descriptors were lost: this process has no room for more open files");
        }
        return true;
    }

    /**
     * Where the last message starts of which a byte has arrived. The kernel ends a read after the bytes that descriptors
     * came with, so they belong to that message: the sender gives descriptors along with a message's first byte.
     */
    private int lastMessageStart() {
        int at = start;
        while (end - at >= Header.BYTES) {
            int n = bytes.get(Wire.U32, (long) at + Header.SIZE);
            if (n < Header.BYTES || n >= end - at) {
                break;
            }
            at += n;
        }
        return at;
    }

    public int id() {
        return bytes.get(Wire.U16, (long) start + Header.ID) & 0xffff;
    }

    public int command() {
        return bytes.get(Wire.U16, (long) start + Header.COMMAND) & 0xffff;
    }

    public int flags() {
        return bytes.get(Wire.U32, (long) start + Header.FLAGS);
    }

    /** The error number of a reply with {@link Header#ERROR_FLAG}. */
    public int error() {
        return bytes.get(Wire.U32, (long) start + Header.ERROR);
    }

    public boolean isReply() {
        return (flags() & Header.TYPE_MASK) == Header.TYPE_REPLY;
    }

    /** Size of the payload. */
    public int bodyBytes() {
        return size - Header.BYTES;
    }

    public int u8(int offset) {
        return bytes.get(Wire.U8, (long) start + Header.BYTES + offset) & 0xff;
    }

    public int u16(int offset) {
        return bytes.get(Wire.U16, (long) start + Header.BYTES + offset) & 0xffff;
    }

    public int u32(int offset) {
        return bytes.get(Wire.U32, (long) start + Header.BYTES + offset);
    }

    public long u64(int offset) {
        return bytes.get(Wire.U64, (long) start + Header.BYTES + offset);
    }

    /** The memory that holds the current message, until the next {@link #receive}. */
    public MemorySegment memory() {
        return bytes;
    }

    /** Where in {@link #memory()} the current message's header is. */
    public int messageStart() {
        return start;
    }

    /** Where in {@link #memory()} the current message's payload is. */
    public int bodyStart() {
        return start + Header.BYTES;
    }

    /** Number of descriptors that came with the current message and have not been taken. */
    public int fds() {
        return descriptors.current();
    }

    /** Takes the first of them. */
    public FileDescriptor takeFd() {
        return FileDescriptor.own(descriptors.take());
    }

    /** The number of the first of them, which stays here. */
    public int peekFd() {
        return descriptors.peek();
    }

    /** Closes the descriptors of the current message that nobody took. */
    public void dropFds() {
        descriptors.closeCurrent();
    }

    /** Closes all descriptors that nobody took, and frees the buffer. The socket is its owner's to close. */
    @Override
    public void close() {
        descriptors.closeAll();
        socket.close();
        buffer.close();
    }
}
