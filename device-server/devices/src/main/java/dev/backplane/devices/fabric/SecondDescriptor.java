// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Struct;
import java.lang.foreign.MemorySegment;

/**
 * The second transmit descriptor (US 8,868,672, claim 1; the record of US 9,137,173): it lies in rendezvous memory,
 * names a frame's place there and its size, and is linked into the memory output queue of one output port. A frame for
 * several ports has one place and several second descriptors.
 */
public final class SecondDescriptor {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_second_desc", "Second transmit descriptor, in rendezvous memory: a frame's place and size.")
            .u32("next", DEVICE, "Following descriptor of the memory output queue; 0 while there is none.")
            .u32("cell", DEVICE, "First cell of the frame.")
            .u32("length", DEVICE, "Bytes of the frame.")
            .u16("cells", DEVICE, "Cells of the frame.")
            .u16("offset", DEVICE, "Bytes before the frame's first byte in the first cell.")
            .u16("flags", DEVICE, "Frame.CHECKSUM_*.")
            .u16("vlan_tci", DEVICE, "VLAN id and priority.")
            .u16("csum_start", DEVICE, "First byte that the checksum covers, if it is partial.")
            .u16("csum_offset", DEVICE, "Place of the checksum, from csum_start.")
            .u16("gso_type", DEVICE, "Kind of segmentation, BP_AGG_GSO_*.")
            .u16("gso_size", DEVICE, "Payload bytes of each segment.")
            .u16("header_length", DEVICE, "Bytes of headers that each segment repeats.")
            .u16("source_node", DEVICE, "Id of the sending node, 0 for an uplink.")
            .u32("flow_hash", DEVICE, "Hash over addresses and ports.")
            .u32("epoch", DEVICE, "Epoch of the output port when the frame was queued.")
            .u64("due", DEVICE, "Earliest time of delivery in nanoseconds of the fabric's clock, 0 for at once.")
            .u32("delivered", DEVICE, "Packets that have left, when the port has the frame segmented in software.")
            .reservedTo(64)
            .size(64);

    public static final int BYTES = LAYOUT.size();

    static final int NEXT = LAYOUT.offset("next");
    static final int CELL = LAYOUT.offset("cell");
    static final int LENGTH = LAYOUT.offset("length");
    static final int CELLS = LAYOUT.offset("cells");
    static final int OFFSET = LAYOUT.offset("offset");
    static final int FLAGS = LAYOUT.offset("flags");
    static final int VLAN_TCI = LAYOUT.offset("vlan_tci");
    static final int CSUM_START = LAYOUT.offset("csum_start");
    static final int CSUM_OFFSET = LAYOUT.offset("csum_offset");
    static final int GSO_TYPE = LAYOUT.offset("gso_type");
    static final int GSO_SIZE = LAYOUT.offset("gso_size");
    static final int HEADER_LENGTH = LAYOUT.offset("header_length");
    static final int SOURCE_NODE = LAYOUT.offset("source_node");
    static final int FLOW_HASH = LAYOUT.offset("flow_hash");
    static final int EPOCH = LAYOUT.offset("epoch");
    static final int DUE = LAYOUT.offset("due");
    static final int DELIVERED = LAYOUT.offset("delivered");

    private SecondDescriptor() {}

    /** Writes the eight bytes from {@code offset} on in one go: four, then twice two, as the fields lie. */
    static void set(MemorySegment m, long at, int offset, int four, int two, int last) {
        m.set(RendezvousMemory.LONG, at + offset, (four & 0xffff_ffffL) | (two & 0xffffL) << 32 | (long) last << 48);
    }
}
