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
}
