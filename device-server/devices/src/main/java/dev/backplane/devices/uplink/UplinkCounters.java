// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import dev.backplane.devices.fabric.PortCounters;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/** What an uplink counts beyond what every port does. Transmit is from the far side into the fabric. */
final class UplinkCounters {
    private final CounterGroup group = new CounterGroup("uplink");

    final PortCounters port = new PortCounters(group);
    final Counter lost = group.counter("lost", "Frames given up between port and far side because the link went down");
    final Counter farSideWaits =
            group.counter("far_side_waits", "Times that the far side waited for room on its way into the fabric");
    final Counter linkUps = group.counter("link_ups", "Times that the link came up");

    CounterGroup group() {
        return group;
    }
}
