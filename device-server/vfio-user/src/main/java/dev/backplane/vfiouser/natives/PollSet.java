// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/** Descriptors that one thread waits for together, again and again; a wait allocates nothing. Confined to one thread. */
public final class PollSet implements AutoCloseable {
    private static final int ENTRY = 8; // struct pollfd
    private static final int EVENTS = 4;
    private static final int POLLIN = 1;

    private NativeBuffer buffer = NativeBuffer.allocate(4 * ENTRY);
    private int count;

    /** Adds a descriptor, which stays the caller's; its index is the number of those that were added before. */
    public void add(int fd) {
        if ((count + 1) * ENTRY > buffer.bytes()) {
            NativeBuffer larger = NativeBuffer.allocate(2 * buffer.bytes());
            MemorySegment.copy(buffer.segment(), 0, larger.segment(), 0, (long) count * ENTRY);
            buffer.close();
            buffer = larger;
        }
        buffer.segment().set(JAVA_INT, (long) count * ENTRY, fd);
        buffer.segment().set(JAVA_INT, (long) count * ENTRY + EVENTS, POLLIN);
        count++;
    }

    /** Removes the descriptor of that index; those behind it move up by one. */
    public void remove(int index) {
        MemorySegment s = buffer.segment();
        int behind = count - index - 1;
        MemorySegment.copy(s, (index + 1L) * ENTRY, s, (long) index * ENTRY, (long) behind * ENTRY);
        count--;
    }

    /**
     * Waits until one of them has something to read or has been hung up.
     *
     * @param timeoutMillis -1 to wait for ever
     * @return how many have; {@link #ready} tells which
     */
    public int await(int timeoutMillis) throws NativeException {
        return NativeException.check("poll", Libc.poll(buffer.address(), count, timeoutMillis));
    }

    /** Whether the last {@link #await} found anything at that descriptor. */
    public boolean ready(int index) {
        return buffer.segment().get(JAVA_INT, (long) index * ENTRY + EVENTS) >>> 16 != 0;
    }

    @Override
    public void close() {
        buffer.close();
    }
}
