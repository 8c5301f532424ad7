// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import dev.backplane.vfiouser.protocol.Header;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;

/** A vfio-user message that went over a socket. Immutable. */
final class TracedMessage {
    /** Most bytes of a message that are kept: all of everything but bulk data. */
    static final int MAX_BYTES = 4096;

    private final String socket;
    private final long nanos;
    private final boolean fromClient;
    private final int fds;
    private final ByteBuffer bytes;
    private final int size;

    /**
     * A message.
     *
     * @param nanos time since 1970 in nanoseconds
     * @param kept its first bytes, header included, at most {@link #MAX_BYTES}; not changed afterwards
     * @param size its size on the socket
     */
    TracedMessage(String socket, long nanos, boolean fromClient, int fds, byte[] kept, int size) {
        this.socket = socket;
        this.nanos = nanos;
        this.fromClient = fromClient;
        this.fds = fds;
        this.bytes = ByteBuffer.wrap(kept)
                .order(ByteOrder.LITTLE_ENDIAN)
                .asReadOnlyBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);
        this.size = size;
    }

    /** The time now, as {@link #nanos} has it. */
    static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    /** Name of the socket, such as {@code node1.agg}. */
    String socket() {
        return socket;
    }

    long nanos() {
        return nanos;
    }

    boolean fromClient() {
        return fromClient;
    }

    /** Descriptors that went along. */
    int fds() {
        return fds;
    }

    int size() {
        return size;
    }

    int kept() {
        return bytes.capacity();
    }

    int id() {
        return u16(Header.ID);
    }

    int command() {
        return u16(Header.COMMAND);
    }

    int flags() {
        return (int) u32(Header.FLAGS);
    }

    int error() {
        return (int) u32(Header.ERROR);
    }

    boolean isReply() {
        return (flags() & Header.TYPE_MASK) == Header.TYPE_REPLY;
    }

    /** The byte at {@code at}, counted from the header on; 0 beyond what is kept. */
    int u8(int at) {
        return at < bytes.capacity() ? bytes.get(at) & 0xff : 0;
    }

    /** Two bytes at {@code at}, otherwise as {@link #u8}. */
    int u16(int at) {
        return at + 2 <= bytes.capacity() ? bytes.getShort(at) & 0xffff : 0;
    }

    /** Four bytes, otherwise as {@link #u8}. */
    long u32(int at) {
        return at + 4 <= bytes.capacity() ? bytes.getInt(at) & 0xffff_ffffL : 0;
    }

    /** Eight bytes, otherwise as {@link #u8}. */
    long u64(int at) {
        return at + 8 <= bytes.capacity() ? bytes.getLong(at) : 0;
    }

    /** {@code count} bytes from {@code at} on, as many of them as are kept. */
    byte[] slice(int at, int count) {
        byte[] slice = new byte[Math.max(0, Math.min(count, bytes.capacity() - at))];
        if (slice.length > 0) {
            bytes.get(at, slice);
        }
        return slice;
    }
}
