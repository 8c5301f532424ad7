// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.RO;
import static dev.backplane.vfiouser.layout.Access.RW;
import static dev.backplane.vfiouser.layout.Access.RW1C;

import dev.backplane.devices.fabric.Offloads;
import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * BAR 0 of the aggregation device: control registers of the vNIC. Every access is trapped and, as long as no BAR of the
 * device can be mapped, QEMU posts the writes. No read has a side effect.
 */
public final class AggRegisters {
    /** Bytes of BAR 0. */
    public static final int BAR_BYTES = 0x10000;
    /** First of the queue register blocks ({@link QueueRegisters}): transmit queues first, then receive queues. */
    public static final int QUEUES = 0x200;
    /** Doorbells: four bytes for each queue, in the order of the register blocks, 8 bytes apart; the value is ignored. */
    public static final int DOORBELLS = 0x1000;
    /** Bytes between two doorbells. */
    public static final int DOORBELL_STRIDE = 8;
    /** Statistics block ({@link AggStatistics}): 64-bit counters, read only. */
    public static final int STATISTICS = 0x2000;
    /** MSI-X table. */
    public static final int MSIX_TABLE = 0x8000;
    /** MSI-X pending-bit array. */
    public static final int MSIX_PBA = 0xc000;

    /** Most queue pairs of a vNIC. */
    public static final int MAX_QUEUE_PAIRS = 8;
    /** Vector 0 is for events, then one for each queue. */
    public static final int VECTORS = 1 + 2 * MAX_QUEUE_PAIRS;

    public static final int MIN_RING_SIZE = 2;
    public static final int MAX_RING_SIZE = 4096;
    /** Most descriptors of one frame. */
    public static final int MAX_SEGMENTS = 64;
    /** Smallest MTU (RFC 791). */
    public static final int MIN_MTU = 68;
    /** Largest MTU: a frame with Ethernet header and VLAN tag still fits an IPv4 total length and a 64 KiB GSO frame. */
    public static final int MAX_MTU = 65_510;
    /** Largest frame, segmentation offload included: 64 KiB and an Ethernet header with two VLAN tags. */
    public static final int MAX_FRAME = 65_536 + 22;
    /** Smallest frame: an Ethernet header. Frames are not padded to 60 bytes between guests. */
    public static final int MIN_FRAME = 14;

    /** "BAGG", little-endian. */
    public static final int MAGIC_VALUE = 0x47474142;
    /** Major version in the upper half: drivers refuse another major. */
    public static final int VERSION_VALUE = 0x0001_0000;
    /** Vector number that means none. */
    public static final int NO_VECTOR = 0xffff_ffff;

    /** The control block. */
    public static final Struct LAYOUT = Struct.registers(
                    "bp_agg_reg", "Aggregation device, BAR 0: control registers of the vNIC.")
            .u32("magic", RO, MAGIC_VALUE, "\"BAGG\": tells an aggregation device from a dead one (all-ones).")
            .u32("version", RO, VERSION_VALUE, "Interface version: major << 16 | minor. Drivers refuse another major.")
            .u64("features", RO, "BP_AGG_FEATURE_* that the device offers.")
            .u64("driver_features", RW, "BP_AGG_FEATURE_* that the driver uses; fixed while enabled.")
            .u32("control", RW, "BP_AGG_CONTROL_*.")
            .u32("status", RO, "BP_AGG_STATUS_*; the state in the low 4 bits (BP_AGG_STATE_*).")
            .u32("error", RO, "BP_AGG_ERROR_* that made the device fail; 0 while it works.")
            .u32("epoch", RO, "Grows by one at each reset.")
            .u32("mac_low", RO, "Permanent MAC address, bytes 0 to 3 (byte 0 in the low 8 bits).")
            .u32("mac_high", RO, "Permanent MAC address, bytes 4 and 5.")
            .u32("node_id", RO, "Id of this node, from 1 on.")
            .u32("link_speed", RO, "Speed that is reported to the operating system, in Mbit/s.")
            .u32("max_mtu", RO, MAX_MTU, "Largest MTU in bytes.")
            .u32("mtu", RW, 1500, "MTU in bytes; longer frames without segmentation offload are transmit errors.")
            .u32("max_queue_pairs", RO, MAX_QUEUE_PAIRS, "Queue pairs that the device has.")
            .u32("queue_pairs", RW, 1, "Queue pairs among which received flows are spread; 1 to max_queue_pairs.")
            .u32("min_ring_size", RO, MIN_RING_SIZE, "Smallest ring, in descriptors.")
            .u32("max_ring_size", RO, MAX_RING_SIZE, "Largest ring, in descriptors.")
            .u32("max_segments", RO, MAX_SEGMENTS, "Most descriptors of one frame.")
            .u32("event_vector", RW, NO_VECTOR, "MSI-X vector of link and error events; all-ones for none.")
            .u32("event_status", RW1C, "BP_AGG_EVENT_* that happened since they were last cleared.")
            .u32("queue_errors", RO, "Bitmap of the queues that stopped with an error; bit n is register block n.")
            .u32("packet_filter", RW, "BP_AGG_FILTER_*.")
            .u32("scratch", RW, "Holds what was written, for the driver's self-test.")
            .u32(
                    "bad_accesses",
                    RO,
                    "Accesses to nothing, of a wrong width, or with a value out of range (low 32 bits).")
            .reservedTo(0x70)
            .u64(
                    "multicast_filter",
                    RW,
                    "Groups to receive: bit n for those whose CRC (ether_crc() >> 26 of Linux) is n.")
            .reservedTo(0x100)
            .size(0x100);

    public static final int MAGIC = LAYOUT.offset("magic");
    public static final int VERSION = LAYOUT.offset("version");
    public static final int FEATURES = LAYOUT.offset("features");
    public static final int DRIVER_FEATURES = LAYOUT.offset("driver_features");
    public static final int CONTROL = LAYOUT.offset("control");
    public static final int STATUS = LAYOUT.offset("status");
    public static final int ERROR = LAYOUT.offset("error");
    public static final int EPOCH = LAYOUT.offset("epoch");
    public static final int MAC_LOW = LAYOUT.offset("mac_low");
    public static final int MAC_HIGH = LAYOUT.offset("mac_high");
    public static final int NODE_ID = LAYOUT.offset("node_id");
    public static final int LINK_SPEED = LAYOUT.offset("link_speed");
    public static final int MTU = LAYOUT.offset("mtu");
    public static final int QUEUE_PAIRS = LAYOUT.offset("queue_pairs");
    public static final int EVENT_VECTOR = LAYOUT.offset("event_vector");
    public static final int EVENT_STATUS = LAYOUT.offset("event_status");
    public static final int QUEUE_ERRORS = LAYOUT.offset("queue_errors");
    public static final int PACKET_FILTER = LAYOUT.offset("packet_filter");
    public static final int MULTICAST_FILTER = LAYOUT.offset("multicast_filter");
    public static final int SCRATCH = LAYOUT.offset("scratch");
    public static final int BAD_ACCESSES = LAYOUT.offset("bad_accesses");

    public static final int CONTROL_ENABLE = 1;
    public static final int CONTROL_RESET = 2;
    public static final int STATUS_STATE_MASK = 0xf;
    public static final int STATUS_LINK_UP = 0x10;
    /** Values of {@link #ERROR}. */
    public static final int ERROR_NONE = 0;

    public static final int ERROR_BROKEN_MEMORY = 1;
    public static final int ERROR_RESTORE = 2;
    public static final int EVENT_LINK = 1;
    public static final int EVENT_QUEUE_ERROR = 2;
    public static final int EVENT_QUEUE = 4;
    public static final int FILTER_PROMISCUOUS = 1;
    public static final int FILTER_ALL_MULTICAST = 2;
    public static final int FEATURE_CHECKSUM = Offloads.TAKES_CHECKSUM;
    public static final int FEATURE_TSO4 = Offloads.TAKES_TSO4;
    public static final int FEATURE_TSO6 = Offloads.TAKES_TSO6;
    public static final int FEATURE_UDP_SEGMENTATION = Offloads.TAKES_UDP_SEGMENTATION;
    public static final int FEATURE_VLAN = Offloads.TAKES_VLAN;
    public static final int FEATURE_MULTI_QUEUE = 0x20;
    public static final int FEATURE_MODERATION = 0x40;

    /** Bits, values and limits that go with the registers. */
    public static final Constants CONSTANTS = Constants.of(
                    "Aggregation device", "values of its registers, and places in BAR 0")
            .add("BP_AGG_MAGIC", MAGIC_VALUE, "value of magic")
            .add("BP_AGG_VERSION", VERSION_VALUE, "value of version")
            .add("BP_AGG_BAR_BYTES", BAR_BYTES, "size of BAR 0")
            .add("BP_AGG_QUEUES", QUEUES, "first queue register block")
            .add("BP_AGG_DOORBELLS", DOORBELLS, "first doorbell")
            .add("BP_AGG_DOORBELL_STRIDE", DOORBELL_STRIDE, "bytes between doorbells")
            .add("BP_AGG_STATISTICS", STATISTICS, "statistics block")
            .add("BP_AGG_MAX_QUEUE_PAIRS", MAX_QUEUE_PAIRS, "most queue pairs")
            .add("BP_AGG_MAX_SEGMENTS", MAX_SEGMENTS, "most descriptors of one frame")
            .add("BP_AGG_MAX_FRAME", MAX_FRAME, "largest frame in bytes")
            .add("BP_AGG_MIN_FRAME", MIN_FRAME, "smallest frame in bytes")
            .add("BP_AGG_NO_VECTOR", NO_VECTOR & 0xffff_ffffL, "no vector")
            .add("BP_AGG_CONTROL_ENABLE", CONTROL_ENABLE, "RW: the vNIC works, the link comes up")
            .add("BP_AGG_CONTROL_RESET", CONTROL_RESET, "write 1: reset; reads 0 once done")
            .add("BP_AGG_STATE_IDLE", 0, "after reset, not enabled")
            .add("BP_AGG_STATE_RUNNING", 1, "enabled")
            .add("BP_AGG_STATE_FAILED", 2, "stopped by an error; reset recovers")
            .add("BP_AGG_STATUS_STATE_MASK", STATUS_STATE_MASK, "the state's bits in status")
            .add("BP_AGG_STATUS_LINK_UP", STATUS_LINK_UP, "the link is up")
            .add("BP_AGG_ERROR_NONE", ERROR_NONE, "no error")
            .add("BP_AGG_ERROR_BROKEN_MEMORY", ERROR_BROKEN_MEMORY, "guest memory was truncated")
            .add("BP_AGG_ERROR_RESTORE", ERROR_RESTORE, "a saved state could not be restored")
            .add("BP_AGG_EVENT_LINK", EVENT_LINK, "the link changed")
            .add("BP_AGG_EVENT_QUEUE_ERROR", EVENT_QUEUE_ERROR, "a queue stopped, see queue_errors")
            .add("BP_AGG_EVENT_QUEUE", EVENT_QUEUE, "a queue wants service; only without MSI-X")
            .add("BP_AGG_FILTER_PROMISCUOUS", FILTER_PROMISCUOUS, "receive frames for any address")
            .add("BP_AGG_FILTER_ALL_MULTICAST", FILTER_ALL_MULTICAST, "receive all multicast frames")
            .add("BP_AGG_FEATURE_CHECKSUM", FEATURE_CHECKSUM, "partial checksums pass, both ways")
            .add("BP_AGG_FEATURE_TSO4", FEATURE_TSO4, "TCP over IPv4 segmentation passes, both ways")
            .add("BP_AGG_FEATURE_TSO6", FEATURE_TSO6, "TCP over IPv6 segmentation passes, both ways")
            .add("BP_AGG_FEATURE_UDP_SEGMENTATION", FEATURE_UDP_SEGMENTATION, "UDP segmentation passes, both ways")
            .add("BP_AGG_FEATURE_VLAN", FEATURE_VLAN, "VLAN tags beside the frame")
            .add("BP_AGG_FEATURE_MULTI_QUEUE", FEATURE_MULTI_QUEUE, "more than one queue pair")
            .add("BP_AGG_FEATURE_MODERATION", FEATURE_MODERATION, "interrupt moderation")
            .build();

    private AggRegisters() {}
}
