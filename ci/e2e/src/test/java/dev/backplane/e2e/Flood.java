// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;

/** One node sends to another as fast as it can, and goes on when nobody answers: it keeps the other's address. */
final class Flood implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final Guest sender;
    private final String neighbour;
    private final Execution ping;

    private Flood(Guest sender, int to) {
        this.sender = sender;
        neighbour = Cluster.address(to) + " dev " + Guests.netdev(sender);
        sender.exec("ip neighbour replace " + neighbour + " lladdr 02:ba:5c:00:00:0" + to + " nud permanent")
                .ok();
        ping = sender.start("ping -q -f -s 1400 -w 3000 " + Cluster.address(to));
    }

    /** Begins; {@code to} is below 10. */
    static Flood start(Cluster cluster, int from, int to) {
        return new Flood(cluster.node(from), to);
    }

    /** Waits until so many more frames have been sent. */
    void awaitMore(int frames) {
        Guests.awaitCounters(sender, "tx\\d_packets", Guests.counters(sender, "tx\\d_packets") + frames);
    }

    @Override
    public void close() {
        ping.kill(2);
        ping.await(LIMIT);
        sender.exec("ip neighbour del " + neighbour).ok();
    }
}
