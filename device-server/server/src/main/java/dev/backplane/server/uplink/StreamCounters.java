// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/** What a stream uplink counts beyond what its port does. */
final class StreamCounters {
    private final CounterGroup group = new CounterGroup("stream");

    final Counter connects = group.counter("connects", "Connections made or accepted");
    final Counter failures = group.counter("connect_failures", "Attempts to connect that failed");
    final Counter refused = group.counter("refused", "Connections refused because there is one already");
    final Counter badLengths = group.counter("bad_lengths", "Connections ended because of an impossible frame length");
    final Counter batches = group.counter("batches", "Runs of frames written in one go");
    final Counter writeWaits = group.counter("write_waits", "Times that the peer took no more");

    CounterGroup group() {
        return group;
    }
}
