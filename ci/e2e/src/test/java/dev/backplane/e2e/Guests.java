// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Guest;
import java.time.Duration;

/** What tests ask of a guest again and again. */
final class Guests {
    private static final Duration DISCONNECT_LIMIT = Duration.ofSeconds(20);

    private Guests() {}

    /** The name of the network interface whose driver is {@code bp_agg}. */
    static String netdev(Guest guest) {
        return guest.exec("basename $(ls -d /sys/bus/pci/drivers/bp_agg/*/net/* | head -n 1)")
                .ok()
                .out()
                .strip();
    }

    /** The sum of those of the interface's counters whose names match. */
    static long counters(Guest guest, String pattern) {
        return guest.exec("ethtool -S " + netdev(guest))
                .ok()
                .out()
                .lines()
                .map(line -> line.strip().split(": ", 2))
                .filter(part -> part.length == 2 && part[0].matches(pattern))
                .mapToLong(part -> Long.parseLong(part[1].strip()))
                .sum();
    }

    /** Waits until the sum of the counters has come to a value: in the guest, since there is no event for it. */
    static void awaitCounters(Guest guest, String pattern, long least) {
        guest.exec("until [ $(ethtool -S " + netdev(guest) + " | awk '$1 ~ /^" + pattern.replace("\\d", "[0-9]")
                        + ":/ { sum += $2 } END { print sum + 0 }') -ge " + least + " ]; do sleep 0.1; done")
                .ok();
    }

    /** Waits until the device server has seen that a node's QEMU is gone; it tells nobody, so it is asked again and again. */
    static void awaitDisconnected(Cluster cluster, int node) {
        long start = System.nanoTime();
        JsonNode state;
        do {
            state = cluster.server().api().get("/nodes/node" + node);
            if (System.nanoTime() - start > DISCONNECT_LIMIT.toNanos()) {
                throw new AssertionError("still connected: " + state);
            }
        } while (state.path("agg").path("connected").asBoolean(true)
                || state.path("imm").path("connected").asBoolean(true));
    }
}
