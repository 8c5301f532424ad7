// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DRIVER;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * The first transmit descriptor of US 8,868,672, claim 1: in the sender's memory, it holds the location and the size of
 * the data. Offload fields are those of a frame's first descriptor.
 */
public final class TransmitDescriptor {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_agg_tx_desc", "First transmit descriptor (US 8,868,672, claim 1): location and size of data.")
            .u64("address", DRIVER, "Guest address of the data.")
            .u32("length", DRIVER, "Bytes of data in this buffer, at least 1.")
            .u16("flags", DRIVER, "BP_AGG_TX_*.")
            .u16("vlan_tci", DRIVER, "VLAN tag to carry beside the frame, with BP_AGG_TX_VLAN.")
            .u16("csum_start", DRIVER, "First byte that the checksum covers, with BP_AGG_TX_CHECKSUM.")
            .u16("csum_offset", DRIVER, "Place of the checksum, from csum_start.")
            .u16("gso_type", DRIVER, "BP_AGG_GSO_*.")
            .u16("gso_size", DRIVER, "Payload bytes of each segment.")
            .u16("header_length", DRIVER, "Bytes of headers that each segment repeats.")
            .u16("reserved_26", DRIVER, "Zero.")
            .u32("reserved_28", DRIVER, "Zero.")
            .size(32);

    public static final int BYTES = LAYOUT.size();
    public static final int ADDRESS = LAYOUT.offset("address");
    public static final int LENGTH = LAYOUT.offset("length");
    public static final int FLAGS = LAYOUT.offset("flags");
    public static final int VLAN_TCI = LAYOUT.offset("vlan_tci");
    public static final int CSUM_START = LAYOUT.offset("csum_start");
    public static final int CSUM_OFFSET = LAYOUT.offset("csum_offset");
    public static final int GSO_TYPE = LAYOUT.offset("gso_type");
    public static final int GSO_SIZE = LAYOUT.offset("gso_size");
    public static final int HEADER_LENGTH = LAYOUT.offset("header_length");

    public static final int END_OF_FRAME = 1;
    public static final int CHECKSUM = 2;
    public static final int VLAN = 4;

    public static final int GSO_NONE = 0;
    public static final int GSO_TCPV4 = 1;
    public static final int GSO_TCPV6 = 2;
    public static final int GSO_UDP = 3;

    public static final Constants CONSTANTS = Constants.of(
                    "Transmit descriptor", "flags, and kinds of segmentation (both directions)")
            .add("BP_AGG_TX_END_OF_FRAME", END_OF_FRAME, "the frame's last buffer")
            .add("BP_AGG_TX_CHECKSUM", CHECKSUM, "the checksum is partial: the receiver completes it")
            .add("BP_AGG_TX_VLAN", VLAN, "vlan_tci is valid")
            .add("BP_AGG_GSO_NONE", GSO_NONE, "one packet")
            .add("BP_AGG_GSO_TCPV4", GSO_TCPV4, "TCP over IPv4, to be segmented")
            .add("BP_AGG_GSO_TCPV6", GSO_TCPV6, "TCP over IPv6, to be segmented")
            .add("BP_AGG_GSO_UDP", GSO_UDP, "UDP datagrams of gso_size each")
            .build();

    private TransmitDescriptor() {}
}
