// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;

/** The tag of IEEE 802.1Q inside a frame: four bytes behind the two addresses. */
public final class VlanTag {
    /** Bytes of a tag. */
    public static final int BYTES = 4;
    /** Bytes of the two addresses before it. */
    public static final int OFFSET = 12;

    private VlanTag() {}

    /** Whether the frame in the cell at {@code cell} has a tag inside. */
    static boolean inside(MemorySegment m, long cell, Frame frame) {
        return (m.get(FlowKey.BE16, cell + frame.offset + OFFSET) & 0xffff) == FlowKey.ETHERTYPE_VLAN
                && frame.length >= FlowKey.ETHERNET_HEADER + BYTES;
    }

    /** Takes the tag out by moving the addresses over it, and returns its control information. */
    static int takeOut(MemorySegment m, long cell, Frame frame) {
        long at = cell + frame.offset;
        int tci = m.get(FlowKey.BE16, at + OFFSET + 2) & 0xffff;
        MemorySegment.copy(m, at, m, at + BYTES, OFFSET);
        frame.offset += BYTES;
        frame.length -= BYTES;
        if ((frame.flags & Frame.CHECKSUM_PARTIAL) != 0) {
            frame.csumStart -= BYTES;
        }
        if (frame.gsoType != 0) {
            frame.headerLength -= BYTES;
        }
        return tci;
    }

    /** Writes the tag {@code tci} as it is inside a frame. */
    public static void write(MemorySegment m, long at, int tci) {
        m.set(FlowKey.BE16, at, (short) FlowKey.ETHERTYPE_VLAN);
        m.set(FlowKey.BE16, at + 2, (short) tci);
    }
}
