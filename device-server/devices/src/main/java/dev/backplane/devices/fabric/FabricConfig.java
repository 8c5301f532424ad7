// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * Settings of the switch fabric.
 *
 * @param rendezvousBytes size of rendezvous memory
 * @param cellBytes unit in which it is allocated, a power of two
 * @param maxPorts most ports, nodes and uplinks together
 * @param quotaBytes most bytes of rendezvous memory that frames for one port may hold, unless the port says otherwise
 * @param stuckMillis time after which a port from which nothing moves out counts as stuck
 * @param macEntries size of each partition's table of learnt addresses
 * @param macEntriesPerPort most addresses that are learnt from one port
 * @param macAgeSeconds time after which an address that sends nothing is forgotten
 * @param multicastSnooping whether frames for IP multicast groups go only where members are, once a querier is there
 * @param hugePages whether rendezvous memory is to be of huge pages, if the machine has them
 */
public record FabricConfig(
        long rendezvousBytes,
        int cellBytes,
        int maxPorts,
        long quotaBytes,
        int stuckMillis,
        int macEntries,
        int macEntriesPerPort,
        int macAgeSeconds,
        boolean multicastSnooping,
        boolean hugePages) {
    /** Largest frame in bytes: 64 KiB of segmentation offload behind an Ethernet header with two VLAN tags. */
    public static final int MAX_FRAME = 65_536 + 22;

    public static final long MIN_RENDEZVOUS_BYTES = 4L << 20;
    public static final long MAX_RENDEZVOUS_BYTES = 64L << 30;
    public static final int MIN_CELL_BYTES = 2048;
    public static final int MAX_CELL_BYTES = 65_536;
    public static final int MAX_PORTS = 4096;

    private static final FabricConfig DEFAULTS =
            new FabricConfig(64L << 20, 2048, 264, 2L << 20, 250, 8192, 1024, 300, true, false);

    public FabricConfig {
        require("rendezvous memory", rendezvousBytes, MIN_RENDEZVOUS_BYTES, MAX_RENDEZVOUS_BYTES);
        require("cell size", cellBytes, MIN_CELL_BYTES, MAX_CELL_BYTES);
        if (Integer.bitCount(cellBytes) != 1) {
            throw new IllegalArgumentException("fabric: cell size is a power of two, not " + cellBytes);
        }
        require("number of ports", maxPorts, 2, MAX_PORTS);
        require("quota", quotaBytes, minQuota(), rendezvousBytes);
        require("time until stuck", stuckMillis, 1, 60_000);
        require("number of addresses", macEntries, 64, 1 << 20);
        require("number of addresses of a port", macEntriesPerPort, 1, macEntries);
        require("age of addresses", macAgeSeconds, 1, 1_000_000);
    }

    /** 64 MiB in cells of 2 KiB, 264 ports, 2 MiB for each, stuck after a quarter of a second. */
    public static FabricConfig defaults() {
        return DEFAULTS;
    }

    /** Smallest quota: room for two of the largest frames. */
    public static long minQuota() {
        return 4L * 65_536;
    }

    public FabricConfig withRendezvousBytes(long bytes) {
        return new FabricConfig(
                bytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withCellBytes(int bytes) {
        return new FabricConfig(
                rendezvousBytes,
                bytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withMaxPorts(int ports) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                ports,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withQuotaBytes(long bytes) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                bytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withStuckMillis(int millis) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                millis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withMacEntries(int entries, int perPort) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                entries,
                perPort,
                macAgeSeconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withMacAgeSeconds(int seconds) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                seconds,
                multicastSnooping,
                hugePages);
    }

    public FabricConfig withMulticastSnooping(boolean on) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                on,
                hugePages);
    }

    public FabricConfig withHugePages(boolean on) {
        return new FabricConfig(
                rendezvousBytes,
                cellBytes,
                maxPorts,
                quotaBytes,
                stuckMillis,
                macEntries,
                macEntriesPerPort,
                macAgeSeconds,
                multicastSnooping,
                on);
    }

    private static void require(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("fabric: " + what + " is " + min + " to " + max + ", not " + value);
        }
    }
}
