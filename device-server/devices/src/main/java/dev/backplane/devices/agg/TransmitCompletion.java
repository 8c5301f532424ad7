// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/** What became of a transmit descriptor: same place in the completion array as the descriptor has in its ring. */
public final class TransmitCompletion {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_agg_tx_comp", "What became of a transmit descriptor: the data is in rendezvous memory, or not.")
            .u32("status", DEVICE, "BP_AGG_TX_STATUS_*; that of the whole frame, on each of its descriptors.")
            .u32("reserved_4", DEVICE, "Zero.")
            .size(8);

    public static final int BYTES = LAYOUT.size();
    public static final int STATUS = LAYOUT.offset("status");

    public static final int OK = 0;
    public static final int BAD_ADDRESS = 1;
    public static final int BAD_LENGTH = 2;
    public static final int TOO_MANY_SEGMENTS = 3;
    public static final int BAD_OFFLOAD = 4;
    public static final int BAD_FLAGS = 5;
    public static final int LINK_DOWN = 6;
    public static final int DROPPED = 7;

    public static final Constants CONSTANTS = Constants.of("Transmit status", "status of a transmit completion")
            .add("BP_AGG_TX_STATUS_OK", OK, "moved to rendezvous memory")
            .add("BP_AGG_TX_STATUS_BAD_ADDRESS", BAD_ADDRESS, "a buffer is not in guest memory")
            .add("BP_AGG_TX_STATUS_BAD_LENGTH", BAD_LENGTH, "a buffer of 0 bytes, or frame too short or too long")
            .add("BP_AGG_TX_STATUS_TOO_MANY_SEGMENTS", TOO_MANY_SEGMENTS, "more than max_segments buffers")
            .add("BP_AGG_TX_STATUS_BAD_OFFLOAD", BAD_OFFLOAD, "checksum or segmentation fields do not fit the frame")
            .add("BP_AGG_TX_STATUS_BAD_FLAGS", BAD_FLAGS, "unknown flag, or an offload that was not negotiated")
            .add("BP_AGG_TX_STATUS_LINK_DOWN", LINK_DOWN, "the link is down")
            .add("BP_AGG_TX_STATUS_DROPPED", DROPPED, "refused by the fabric: source address or partition")
            .build();

    private TransmitCompletion() {}
}
