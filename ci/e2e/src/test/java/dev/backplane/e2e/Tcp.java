// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;

/** TCP between guests whose contents are compared. */
final class Tcp {
    private static final Duration LONG = Duration.ofMinutes(3);

    private Tcp() {}

    /** Sends random bytes from one node to the other through a connection, and compares what arrived. */
    static void transfer(Cluster cluster, int from, int to, int bytes) {
        Guest sender = cluster.node(from);
        Guest receiver = cluster.node(to);
        sender.exec("head -c " + bytes + " /dev/urandom > /tmp/sent").ok();
        // The open pipe is its standard input: at the end of that nc would close the connection.
        Execution listening = receiver.start("rm -f /tmp/open; mkfifo /tmp/open;"
                + " nc -l -p 5555 < /tmp/open > /tmp/received & exec 3> /tmp/open; wait");
        receiver.exec("until cat /proc/net/tcp /proc/net/tcp6 | grep -q ':15B3 .* 0A '; do sleep 0.1; done")
                .ok();
        sender.exec("nc " + Cluster.address(to) + " 5555 < /tmp/sent", LONG).ok();
        listening.await(LONG).ok();
        assertEquals(
                sender.exec("sha256sum < /tmp/sent").ok().out(),
                receiver.exec("sha256sum < /tmp/received").ok().out());
        sender.exec("rm /tmp/sent").ok();
        receiver.exec("rm /tmp/received").ok();
    }
}
