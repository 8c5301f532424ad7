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
        Execution listening = receive(receiver, "> /tmp/received");
        sender.exec("nc " + Cluster.address(to) + " 5555 < /tmp/sent", LONG).ok();
        listening.await(LONG).ok();
        assertEquals(
                sender.exec("sha256sum < /tmp/sent").ok().out(),
                receiver.exec("sha256sum < /tmp/received").ok().out());
        sender.exec("rm /tmp/sent").ok();
        receiver.exec("rm /tmp/received").ok();
    }

    /** Accepts one connection to port 5555 and passes what comes to where {@code redirection} says. */
    static Execution receive(Guest receiver, String redirection) {
        // The open pipe is its standard input: at the end of that nc would close the connection.
        return listening(
                receiver,
                "rm -f /tmp/open; mkfifo /tmp/open; nc -l -p 5555 < /tmp/open " + redirection
                        + " & exec 3> /tmp/open; wait");
    }

    /** Runs a script that listens at port 5555, and waits until it does. */
    static Execution listening(Guest guest, String script) {
        Execution listening = guest.start(script);
        guest.exec("until cat /proc/net/tcp /proc/net/tcp6 | grep -q ':15B3 .* 0A '; do sleep 0.1; done")
                .ok();
        return listening;
    }
}
