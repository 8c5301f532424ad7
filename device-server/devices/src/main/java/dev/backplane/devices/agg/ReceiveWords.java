// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.Packet;
import dev.backplane.vfiouser.memory.GuestRange;

/** Writes receive completions, eight bytes at a time; where a field lies in them follows from its declaration. */
final class ReceiveWords {
    private static final int WORD0 = ReceiveCompletion.LENGTH & -8;
    private static final int WORD1 = ReceiveCompletion.STATUS & -8;
    private static final int WORD2 = ReceiveCompletion.CSUM_START & -8;
    private static final int WORD3 = ReceiveCompletion.HEADER_LENGTH & -8;

    private ReceiveWords() {}

    /** Completes buffer {@code i} of {@code buffers} of a packet, which takes {@code bytes} bytes of it. */
    static void write(GuestRange to, int place, Packet p, int bytes, int packetBytes, int i, int buffers) {
        long at = (long) place * ReceiveCompletion.BYTES;
        int flags = i == buffers - 1 ? ReceiveCompletion.END_OF_FRAME : 0;
        if (i != 0) {
            to.setLong(at + WORD0, bytes);
            to.setLong(at + WORD1, field(ReceiveCompletion.FLAGS, flags));
            to.setLong(at + WORD2, 0);
            to.setLong(at + WORD3, 0);
            return;
        }
        Frame f = p.frame();
        boolean offloads = !p.completed();
        boolean partial = offloads && (f.flags & Frame.CHECKSUM_PARTIAL) != 0;
        boolean gso = offloads && f.gsoType != 0;
        flags |= partial ? ReceiveCompletion.CHECKSUM_PARTIAL : 0;
        flags |= !offloads || (f.flags & Frame.CHECKSUM_VALID) != 0 ? ReceiveCompletion.CHECKSUM_VALID : 0;
        int tci = p.tagBytes() == 0 ? f.vlanTci : 0;
        flags |= tci != 0 ? ReceiveCompletion.VLAN : 0;
        to.setLong(at + WORD0, bytes | (long) packetBytes << ((ReceiveCompletion.FRAME_LENGTH & 7) * 8));
        to.setLong(
                at + WORD1,
                field(ReceiveCompletion.FLAGS, flags)
                        | field(ReceiveCompletion.BUFFERS, buffers)
                        | field(ReceiveCompletion.VLAN_TCI, tci));
        to.setLong(
                at + WORD2,
                field(ReceiveCompletion.CSUM_START, partial ? f.csumStart + p.tagBytes() : 0)
                        | field(ReceiveCompletion.CSUM_OFFSET, partial ? f.csumOffset : 0)
                        | field(ReceiveCompletion.GSO_TYPE, gso ? f.gsoType : 0)
                        | field(ReceiveCompletion.GSO_SIZE, gso ? f.gsoSize : 0));
        to.setLong(
                at + WORD3,
                field(ReceiveCompletion.HEADER_LENGTH, gso ? f.headerLength + p.tagBytes() : 0)
                        | field(ReceiveCompletion.SOURCE_NODE, f.sourceNode)
                        | (long) f.flowHash << ((ReceiveCompletion.FLOW_HASH & 7) * 8));
    }

    /** Completes a buffer that holds nothing. */
    static void writeBad(GuestRange to, int place) {
        long at = (long) place * ReceiveCompletion.BYTES;
        to.setLong(at + WORD0, 0);
        to.setLong(at + WORD1, field(ReceiveCompletion.STATUS, ReceiveCompletion.STATUS_BAD_BUFFER));
        to.setLong(at + WORD2, 0);
        to.setLong(at + WORD3, 0);
    }

    private static long field(int offset, int value) {
        return (long) (value & 0xffff) << ((offset & 7) * 8);
    }
}
