// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * A filled receive buffer: same place in the completion array as its descriptor has in the ring. A frame fills
 * successive buffers; its first completion has the offload fields and the number of buffers. All buffers of a frame
 * become visible by one step of the index.
 */
public final class ReceiveCompletion {
    public static final Struct LAYOUT = Struct.memory("bp_agg_rx_comp", "A filled receive buffer.")
            .u32("length", DEVICE, "Bytes in this buffer.")
            .u32("frame_length", DEVICE, "Bytes of the whole frame; on its first buffer.")
            .u16("status", DEVICE, "BP_AGG_RX_STATUS_*.")
            .u16("flags", DEVICE, "BP_AGG_RX_*.")
            .u16("buffers", DEVICE, "Buffers of the frame; on its first buffer.")
            .u16("vlan_tci", DEVICE, "VLAN tag beside the frame, with BP_AGG_RX_VLAN.")
            .u16("csum_start", DEVICE, "First byte that the checksum covers, with BP_AGG_RX_CHECKSUM_PARTIAL.")
            .u16("csum_offset", DEVICE, "Place of the checksum, from csum_start.")
            .u16("gso_type", DEVICE, "BP_AGG_GSO_*.")
            .u16("gso_size", DEVICE, "Payload bytes of each segment.")
            .u16("header_length", DEVICE, "Bytes of headers that each segment repeats.")
            .u16("source_node", DEVICE, "Id of the node that sent it; 0 for an uplink.")
            .u32("flow_hash", DEVICE, "Hash over addresses and ports; equal for one flow.")
            .size(32);

    public static final int BYTES = LAYOUT.size();
    public static final int LENGTH = LAYOUT.offset("length");
    public static final int FRAME_LENGTH = LAYOUT.offset("frame_length");
    public static final int STATUS = LAYOUT.offset("status");
    public static final int FLAGS = LAYOUT.offset("flags");
    public static final int BUFFERS = LAYOUT.offset("buffers");
    public static final int VLAN_TCI = LAYOUT.offset("vlan_tci");
    public static final int CSUM_START = LAYOUT.offset("csum_start");
    public static final int CSUM_OFFSET = LAYOUT.offset("csum_offset");
    public static final int GSO_TYPE = LAYOUT.offset("gso_type");
    public static final int GSO_SIZE = LAYOUT.offset("gso_size");
    public static final int HEADER_LENGTH = LAYOUT.offset("header_length");
    public static final int SOURCE_NODE = LAYOUT.offset("source_node");
    public static final int FLOW_HASH = LAYOUT.offset("flow_hash");

    public static final int STATUS_OK = 0;
    public static final int STATUS_BAD_BUFFER = 1;

    public static final int END_OF_FRAME = 1;
    public static final int CHECKSUM_PARTIAL = 2;
    public static final int CHECKSUM_VALID = 4;
    public static final int VLAN = 8;

    public static final Constants CONSTANTS = Constants.of("Receive completion", "status and flags")
            .add("BP_AGG_RX_STATUS_OK", STATUS_OK, "the buffer holds data")
            .add("BP_AGG_RX_STATUS_BAD_BUFFER", STATUS_BAD_BUFFER, "too small or not in guest memory; holds nothing")
            .add("BP_AGG_RX_END_OF_FRAME", END_OF_FRAME, "the frame's last buffer")
            .add("BP_AGG_RX_CHECKSUM_PARTIAL", CHECKSUM_PARTIAL, "the checksum is partial, but the data is intact")
            .add("BP_AGG_RX_CHECKSUM_VALID", CHECKSUM_VALID, "the transport checksum is known to be right")
            .add("BP_AGG_RX_VLAN", VLAN, "vlan_tci is valid")
            .build();

    private ReceiveCompletion() {}
}
