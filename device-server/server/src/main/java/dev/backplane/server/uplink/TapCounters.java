// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/** What a TAP uplink counts beyond what its port does. */
final class TapCounters {
    private final CounterGroup group = new CounterGroup("tap");

    final Counter writeErrors = group.counter("write_errors", "Frames that the host's interface refused");
    final Counter writeWaits = group.counter("write_waits", "Times that the interface took no more");
    final Counter badHeaders =
            group.counter("bad_headers", "Frames from the host with offload fields that fit nothing");
    final Counter wakeups = group.counter("wakeups", "Times that its thread slept");

    CounterGroup group() {
        return group;
    }
}
