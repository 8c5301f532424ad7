// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import java.lang.invoke.VarHandle;

/**
 * The ring itself: positions, elements, wrap, and the order in which things become visible ({@link RingHeader}, {@link
 * ElementHeader}). Tail, sequence and, with shared consumers, head are the module's own and never read back from the
 * guest. Belongs to the ring's loop, inside a use of the owner's memory.
 */
final class RingBuffer {
    /** Result: nothing is wrong, or the step is done. */
    static final int OK = Completion.OK;
    /** Result: the payload is only partly moved. */
    static final int MORE = -1;

    /** What an element takes but for its payload. */
    private static final int ALIGN = ElementHeader.BYTES;

    private static final long NEVER = -1L;

    private final ModuleBlock block;
    private final long record;
    private final RegisteredMemory memory;
    private final long header;
    private final long data;
    private final long capacity;
    private final boolean shared;
    private boolean notifyOwner;
    /** Whose element is being made visible. */
    private Request committing;

    RingBuffer(ModuleBlock block, long record, RegisteredMemory memory, boolean shared) {
        this.block = block;
        this.record = record;
        this.memory = memory;
        this.shared = shared;
        long offset = block.getLong(record + ModuleBlock.RING_OFFSET);
        this.header = memory.address(offset);
        this.data = offset + RingHeader.BYTES;
        this.capacity = block.getLong(record + ModuleBlock.RING_CAPACITY);
    }

    /**
     * Whether a ring may be there: sizes as {@link RingHeader} says, and at a page boundary, so that neither its header's
     * words nor an element's head straddles pages that do not follow each other.
     */
    static boolean plausible(RegisteredMemory memory, long offset, long capacity) {
        return capacity >= RingHeader.MIN_CAPACITY
                && capacity <= RingHeader.MAX_CAPACITY
                && Long.bitCount(capacity) == 1
                && offset % RingHeader.BYTES == 0
                && memory.firstOffset % RingHeader.BYTES == 0
                && memory.contains(offset, RingHeader.BYTES + capacity);
    }

    /** Whether positions are those of a ring. */
    static boolean plausible(long tail, long head, long capacity) {
        return Long.compareUnsigned(tail - head, capacity) <= 0 && ((tail | head) & (ALIGN - 1)) == 0;
    }

    /** Writes the device's part of the header of a new ring; state last. */
    void open(GuestCursor c, int id) {
        c.setLong(header + RingHeader.TAIL, 0);
        c.setLong(header + RingHeader.DEVICE_HEAD, 0);
        c.setLong(header + RingHeader.ELEMENTS, 0);
        c.setLong(header + RingHeader.REFUSED, 0);
        c.setLong(header + RingHeader.CAPACITY, capacity);
        c.setInt(header + RingHeader.RING, id);
        c.setInt(header + RingHeader.SPACE_WANTED, 0);
        c.setInt(memory.address(data), 0);
        state(c, RingState.OPEN);
    }

    void state(GuestCursor c, RingState state) {
        c.setIntRelease(header + RingHeader.STATE, state.value());
    }

    private long tail() {
        return block.getLong(record + ModuleBlock.RING_TAIL);
    }

    private long head() {
        return block.getLong(record + ModuleBlock.RING_HEAD);
    }

    boolean isEmpty() {
        return tail() == head();
    }

    /** Whether something has happened that the owner wants to be told of; clears it. */
    boolean takeNotify() {
        boolean n = notifyOwner;
        notifyOwner = false;
        return n;
    }

    /** Longest payload of an element: half of the capacity, so that it fits an empty ring wherever the tail is. */
    long maxPayload() {
        return capacity / 2 - ALIGN;
    }

    private static long align(long bytes) {
        return (bytes + ALIGN - 1) & -ALIGN;
    }

    /** Appends the payload of a PUT, or a further part of it; OK, MORE, or the status to end with. */
    int append(Request r, GuestCursor c) {
        if (r.length > maxPayload()) {
            r.resultLength = (int) maxPayload();
            return Completion.TOO_LONG;
        }
        long need = ALIGN + align(r.length);
        long tail = tail();
        long place = tail & (capacity - 1);
        long padding = capacity - place < need ? capacity - place : 0;
        if (r.progress == 0 && r != committing) {
            int room = room(c, tail, padding + need + ALIGN);
            if (room != OK) {
                return room;
            }
        }
        long at = padding == 0 ? place : 0;
        long n = Math.min(r.length - r.progress, SerialTarget.STEP_BYTES);
        Payload.toTarget(r, c, memory, data + at + ALIGN + r.progress, n);
        r.progress += n;
        if (r.progress < r.length) {
            return MORE;
        }
        committing = r;
        commit(r, c, at, need, padding);
        committing = null;
        return OK;
    }

    /** Whether {@code need} bytes are free. The owner's head is only read when the one seen last is not enough. */
    private int room(GuestCursor c, long tail, long need) {
        if (capacity - (tail - head()) >= need) {
            return OK;
        }
        if (!shared) {
            long head = c.getLongAcquire(header + RingHeader.HEAD);
            // Between the head seen before and the tail: what was free once stays free.
            if (Long.compareUnsigned(tail - head, tail - head()) > 0 || (head & (ALIGN - 1)) != 0) {
                return Completion.RING_CORRUPT;
            }
            block.setLong(record + ModuleBlock.RING_HEAD, head);
        }
        return capacity - (tail - head()) >= need ? OK : Completion.FULL;
    }

    /**
     * Tells the consumer that room is wanted, or no longer.
     *
     * <p>The race: the consumer stores head, full fence, loads space_wanted (bp_ring_release() in libbackplane); the
     * module stores space_wanted, full fence, and then the caller tries again, which loads head. So either the consumer
     * sees the wish and rings, or the module sees the room. The same with a consumer that goes to sleep until there is
     * more: it stores what it waits for, full fence, loads space_wanted (bp_ring_arm_when()); here what it waits for is
     * loaded after the fence.
     */
    void wantSpace(GuestCursor c, boolean wanted) {
        c.setInt(header + RingHeader.SPACE_WANTED, wanted ? 1 : 0);
        VarHandle.fullFence();
        if (wanted) {
            notifyOwner |= armed(c);
        }
    }

    /**
     * Tells a consumer that sleeps until there is more that more cannot come: a PUT was refused.
     *
     * <p>The race: the consumer stores what it waits for, full fence, loads refused (bp_ring_arm_when()); here refused is
     * stored, full fence, what it waits for loaded.
     *
     * @param refused differs from the value before
     */
    void refused(GuestCursor c, long refused) {
        c.setLong(header + RingHeader.REFUSED, refused);
        VarHandle.fullFence();
        notifyOwner |= armed(c);
    }

    /** Whether the owner waits for an event of any kind. */
    private boolean armed(GuestCursor c) {
        return c.getLong(header + RingHeader.NOTIFY_EVENT) != NEVER
                || c.getLong(header + RingHeader.NOTIFY_ELEMENTS) != 0;
    }

    /**
     * Makes an element whose payload is in place visible. A consumer that polls the commit word at its head sees it
     * change from 0 last of all: so the word after the element is cleared before, and filler before the ring's end is
     * committed after the element that follows it.
     */
    private void commit(Request r, GuestCursor c, long at, long need, long padding) {
        long element = memory.address(data + at);
        long sequence = block.getLong(record + ModuleBlock.RING_SEQUENCE);
        GetPutContext source = r.binding.context;
        c.setLong(element, (long) r.length << 32);
        c.setLong(element + ElementHeader.SOURCE_NODE, source.module.node().id() | (long) source.number << 16);
        c.setLong(element + ElementHeader.SEQUENCE, sequence);
        c.setLong(element + ElementHeader.TAG, r.tag);
        c.setInt(memory.address(data + ((at + need) & (capacity - 1))), 0);
        // Pairs with the acquire load of the commit word in bp_ring_next() of libbackplane.
        c.setIntRelease(element, (int) need);
        long tail = tail();
        if (padding != 0) {
            c.setIntRelease(memory.address(data + (tail & (capacity - 1))), (int) padding | ElementHeader.PADDING);
        }
        long next = tail + padding + need;
        c.setLongRelease(header + RingHeader.TAIL, next);
        // Whoever sees the number finds all these elements before tail: release, and acquire in bp_ring_arm_when().
        c.setLongRelease(header + RingHeader.ELEMENTS, sequence + 1);
        r.resultValue = sequence;
        r.resultLength = r.length;
        // The race: a consumer that goes to sleep stores notify_event and notify_elements, full fence, loads tail and
        // elements again (bp_ring_arm_when() in libbackplane); here those are stored, full fence, and the wishes
        // loaded.
        // One of the two sees the other.
        VarHandle.fullFence();
        long event = c.getLong(header + RingHeader.NOTIFY_EVENT);
        if (event != NEVER && Long.compareUnsigned(next - 1 - event, next - tail) < 0) {
            notifyOwner = true;
        }
        if (c.getLong(header + RingHeader.NOTIFY_ELEMENTS) == sequence + 1) {
            notifyOwner = true;
        }
        // Last: an access by message can be interrupted, and then all of the above is done once more, with equal
        // values.
        block.setLong(record + ModuleBlock.RING_TAIL, next);
        block.setLong(record + ModuleBlock.RING_SEQUENCE, sequence + 1);
    }

    /** Whether the element of {@code r} was being made visible when that was interrupted: that has to be done again. */
    boolean interrupted(Request r) {
        return r == committing;
    }

    /** It will not be done again. */
    void giveUp() {
        committing = null;
    }

    /** Removes the first element for a GET, or moves a further part of it; OK, MORE, or the status to end with. */
    int remove(Request r, GuestCursor c) {
        long tail = tail();
        long head = head();
        if (tail == head) {
            return Completion.EMPTY;
        }
        long place = head & (capacity - 1);
        long element = memory.address(data + place);
        int commit = c.getInt(element);
        if ((commit & ElementHeader.PADDING) != 0) {
            long padding = commit & ~ElementHeader.PADDING;
            if (padding != capacity - place || padding >= tail - head) {
                return Completion.RING_CORRUPT;
            }
            head += padding;
            block.setLong(record + ModuleBlock.RING_HEAD, head);
            place = 0;
            element = memory.address(data);
            commit = c.getInt(element);
        }
        // The owner can have written over all of it: the element has to lie between head and tail, and in one piece.
        long length = c.getInt(element + ElementHeader.LENGTH);
        if (length < 0 || commit != ALIGN + align(length) || commit > tail - head || commit > capacity - place) {
            return Completion.RING_CORRUPT;
        }
        if (r.progress == 0 && length > r.room()) {
            r.resultLength = (int) length;
            return Completion.TOO_LONG;
        }
        // Between two steps the length may have changed: what was checked first is what the payload's place has room
        // for.
        long end = Math.min(length, r.room());
        long n = Math.min(Math.max(end - r.progress, 0), SerialTarget.STEP_BYTES);
        Payload.fromTarget(r, c, memory, data + place + ALIGN + r.progress, n);
        r.progress += n;
        if (r.progress < end) {
            return MORE;
        }
        long source = c.getLong(element + ElementHeader.SOURCE_NODE);
        r.resultSource = (int) source;
        r.resultTag = c.getLong(element + ElementHeader.TAG);
        r.resultValue = block.getLong(record + ModuleBlock.RING_REMOVED);
        r.resultLength = (int) end;
        c.setLongRelease(header + RingHeader.DEVICE_HEAD, head + commit);
        block.setLong(record + ModuleBlock.RING_REMOVED, r.resultValue + 1);
        block.setLong(record + ModuleBlock.RING_HEAD, head + commit);
        return OK;
    }
}
