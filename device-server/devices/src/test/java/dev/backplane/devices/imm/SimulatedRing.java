// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.sim.SimulatedGuest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A ring as its owner's process sees it: consumes elements straight from memory, as libbackplane does. One thread.
 */
final class SimulatedRing {
    private static final int PAGE = 4096;

    final SimulatedDriver driver;
    final SimulatedGuest guest;
    final long[] pages;
    final long capacity;
    int id;
    long head;

    SimulatedRing(SimulatedDriver driver, long[] pages, long capacity) {
        this.driver = driver;
        this.guest = driver.guest;
        this.pages = pages;
        this.capacity = capacity;
        setHead(0);
        notifyAt(-1L);
    }

    /** An element as found in the ring. */
    @SuppressWarnings("ArrayRecordComponent") // compared by no one
    record Element(long sequence, long tag, int node, int context, byte[] payload) {}

    /** Guest address of a byte of the data area. */
    long data(long place) {
        long at = RingHeader.BYTES + place;
        return pages[(int) (at / PAGE)] + at % PAGE;
    }

    long header(int field) {
        return pages[0] + field;
    }

    long tail() {
        return guest.getLongAcquire(header(RingHeader.TAIL));
    }

    int state() {
        return guest.getIntAcquire(header(RingHeader.STATE));
    }

    void setHead(long value) {
        head = value;
        guest.setLongRelease(header(RingHeader.HEAD), value);
    }

    void notifyAt(long position) {
        guest.setLongRelease(header(RingHeader.NOTIFY_EVENT), position);
        VarHandle.fullFence();
    }

    /** Asks for an event when so many elements were appended; 0: no more. */
    void notifyElements(long count) {
        guest.setLongRelease(header(RingHeader.NOTIFY_ELEMENTS), count);
        VarHandle.fullFence();
    }

    /** Elements appended so far. */
    long elements() {
        return guest.getLongAcquire(header(RingHeader.ELEMENTS));
    }

    /** Changes when a PUT was refused. */
    long refused() {
        return guest.getLongAcquire(header(RingHeader.REFUSED));
    }

    /** Removes the first element by polling its commit word, or returns null when there is none. */
    Element poll() {
        Element e = peek();
        if (e != null) {
            release();
        }
        return e;
    }

    /** Whether the commit word at the head is there. */
    boolean hasElement() {
        return guest.getIntAcquire(data(head & (capacity - 1))) != 0;
    }

    private long consumed;

    private Element peek() {
        long place = head & (capacity - 1);
        int commit = guest.getIntAcquire(data(place));
        if (commit == 0) {
            return null;
        }
        consumed = head;
        if ((commit & ElementHeader.PADDING) != 0) {
            int padding = commit & ~ElementHeader.PADDING;
            if (padding != capacity - place) {
                throw new AssertionError("filler of " + padding + " bytes at " + place + " of " + capacity);
            }
            consumed += padding;
            place = 0;
            commit = guest.getIntAcquire(data(0));
            if (commit == 0 || (commit & ElementHeader.PADDING) != 0) {
                throw new AssertionError("nothing after filler: " + commit);
            }
        }
        long at = data(place);
        int length = guest.getInt(at + ElementHeader.LENGTH);
        if (commit != ((ElementHeader.BYTES + length + 31) & -32)) {
            throw new AssertionError("element of " + length + " bytes commits " + commit);
        }
        byte[] payload = new byte[length];
        for (int done = 0; done < length; ) {
            long address = data(place + ElementHeader.BYTES + done);
            int n = (int) Math.min(length - done, PAGE - address % PAGE);
            MemorySegment.copy(guest.at(address, n), ValueLayout.JAVA_BYTE, 0, payload, done, n);
            done += n;
        }
        consumed += commit;
        return new Element(
                guest.getLong(at + ElementHeader.SEQUENCE),
                guest.getLong(at + ElementHeader.TAG),
                guest.getShort(at + ElementHeader.SOURCE_NODE),
                guest.getShort(at + ElementHeader.SOURCE_CONTEXT),
                payload);
    }

    /** Publishes the room. */
    private void release() {
        setHead(consumed);
        VarHandle.fullFence();
    }

    /** After {@link #poll}: whether the module wants to be told of room. */
    boolean wantsSpace() {
        return guest.getInt(header(RingHeader.SPACE_WANTED)) != 0;
    }
}
