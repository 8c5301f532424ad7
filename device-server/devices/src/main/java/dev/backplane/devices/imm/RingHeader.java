// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;
import static dev.backplane.vfiouser.layout.Access.PROCESS;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * The head of a ring buffer in its owner's memory; elements follow after {@link #BYTES} bytes. Positions are bytes and
 * run freely through 64 bits; the place of an element is position modulo capacity. A consumer may poll {@code tail}, or
 * the {@code commit} word at its head: the module clears the word after an element before it commits the element. So
 * 32 bytes of a ring always stay free, and an element takes at most half of the capacity: then it fits an empty ring
 * wherever its tail is.
 */
public final class RingHeader {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_imm_ring", "Head of a ring buffer; its elements start BP_IMM_RING_HEADER bytes further on.")
            .u64("tail", DEVICE, "Position after the last element; stored with release after the element.")
            .u64("device_head", DEVICE, "Shared consumers: position of the first element not yet removed by GET.")
            .u64("capacity", DEVICE, "Bytes for elements.")
            .u32("state", DEVICE, "BP_IMM_RING_STATE_*.")
            .u32("ring", DEVICE, "Id of this ring.")
            .u32(
                    "space_wanted",
                    DEVICE,
                    "Not 0: a PUT waits for room; ring the doorbell of the ring's context after storing head.")
            .reservedTo(0x28)
            .u64("elements", DEVICE, "Elements appended so far; stored with release after tail, which covers them.")
            .u64("refused", DEVICE, "Changes when a PUT was refused because it found no room.")
            .reservedTo(0x40)
            .u64("head", PROCESS, "Owner consumes: position of its first unconsumed element; stored with release.")
            .u64("notify_event", PROCESS, "An event when tail passes this position; all-ones: never.")
            .u64(
                    "notify_elements",
                    PROCESS,
                    "An event when so many elements were appended; 0: never. If this or notify_event is set, a PUT that"
                            + " finds no room is an event, too.")
            .reservedTo(0x1000)
            .size(0x1000);

    public static final int BYTES = LAYOUT.size();
    public static final int TAIL = LAYOUT.offset("tail");
    public static final int DEVICE_HEAD = LAYOUT.offset("device_head");
    public static final int CAPACITY = LAYOUT.offset("capacity");
    public static final int STATE = LAYOUT.offset("state");
    public static final int RING = LAYOUT.offset("ring");
    public static final int SPACE_WANTED = LAYOUT.offset("space_wanted");
    public static final int ELEMENTS = LAYOUT.offset("elements");
    public static final int REFUSED = LAYOUT.offset("refused");
    public static final int HEAD = LAYOUT.offset("head");
    public static final int NOTIFY_EVENT = LAYOUT.offset("notify_event");
    public static final int NOTIFY_ELEMENTS = LAYOUT.offset("notify_elements");

    public static final int STATE_CLOSED = 0;
    public static final int STATE_OPEN = 1;
    public static final int STATE_CORRUPT = 2;

    /** Smallest capacity, in bytes; a power of two. */
    public static final int MIN_CAPACITY = 4096;
    /** Largest capacity, in bytes. */
    public static final int MAX_CAPACITY = 64 << 20;

    public static final Constants CONSTANTS = Constants.of("Ring", "sizes and states of a ring")
            .add("BP_IMM_RING_HEADER", BYTES, "bytes before the first element")
            .add("BP_IMM_RING_MIN_CAPACITY", MIN_CAPACITY, "smallest capacity, a power of two")
            .add("BP_IMM_RING_MAX_CAPACITY", MAX_CAPACITY, "largest capacity")
            .add(
                    "BP_IMM_RING_STATE_CLOSED",
                    STATE_CLOSED,
                    "destroyed; a reset touches no memory, it shows in the context's state")
            .add("BP_IMM_RING_STATE_OPEN", STATE_OPEN, "works")
            .add("BP_IMM_RING_STATE_CORRUPT", STATE_CORRUPT, "head was impossible: destroy it")
            .build();

    private RingHeader() {}
}
