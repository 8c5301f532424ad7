// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.RO;

import dev.backplane.vfiouser.layout.Struct;

/** The statistics block in BAR 0: what the device counted for this port since the server started. */
public final class AggStatistics {
    public static final Struct LAYOUT = Struct.registers(
                    "bp_agg_stat", "Statistics, 64 bits each, at BP_AGG_STATISTICS; they survive a reset.")
            .u64("tx_frames", RO, "Frames moved from the guest to rendezvous memory.")
            .u64("tx_bytes", RO, "Their bytes.")
            .u64("tx_errors", RO, "Frames whose descriptors were bad.")
            .u64("tx_dropped", RO, "Frames that the fabric refused (anti-spoofing, link down).")
            .u64("tx_waits", RO, "Times that a transmit queue waited for a place in rendezvous memory.")
            .u64("tx_doorbells", RO, "Doorbells of transmit queues.")
            .u64("rx_frames", RO, "Frames moved from rendezvous memory to the guest.")
            .u64("rx_bytes", RO, "Their bytes.")
            .u64("rx_errors", RO, "Receive buffers that were bad.")
            .u64("rx_dropped_stuck", RO, "Frames dropped because the guest had not drained for too long.")
            .u64("rx_dropped_down", RO, "Frames dropped because the port was down or reset.")
            .u64("rx_dropped_too_long", RO, "Frames dropped because they exceed this port's MTU.")
            .u64("rx_waits", RO, "Times that an output port waited for a receive buffer.")
            .u64("rx_doorbells", RO, "Doorbells of receive queues.")
            .u64("interrupts", RO, "Interrupts signalled.")
            .u64("interrupts_suppressed", RO, "Completions for which the event index wanted no interrupt.")
            .u64("bad_accesses", RO, "Register accesses that were refused.")
            .u64("resets", RO, "Resets of the device.")
            .u64("tx_port_waits", RO, "Times that a transmit queue waited for room at an output port.")
            .u64("rx_dropped_flooded", RO, "Copies of flooded frames dropped because this port was full.")
            .u64("rx_dropped_malformed", RO, "Frames dropped because they could not be segmented for this port.")
            .u64("rx_segmented", RO, "Frames that were segmented in software for this port.")
            .u64("rx_checksummed", RO, "Packets whose checksum was computed for this port.")
            .u64("interrupts_moderated", RO, "Interrupts held back by moderation.")
            .u64("queue_errors", RO, "Queues that stopped with an error.")
            .u64("stuck", RO, "Times that the port became stuck.")
            .size(26 * 8);

    private AggStatistics() {}
}
