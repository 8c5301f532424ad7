// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Guest;

/** What tests ask of a guest again and again. */
final class Guests {
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
}
