// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;

/** {@code bp-netcheck} between two nodes of a cluster: contents are checked by the receiver. */
final class Netcheck {
    /** Long forms of tests: {@code -Dbackplane.long=true}. */
    static final boolean LONG_FORM = Boolean.getBoolean("backplane.long");

    private static final Duration LIMIT = Duration.ofMinutes(LONG_FORM ? 20 : 3);

    private final Cluster cluster;
    private final int from;
    private final int to;

    private Netcheck(Cluster cluster, int from, int to) {
        this.cluster = cluster;
        this.from = from;
        this.to = to;
    }

    static Netcheck between(Cluster cluster, int from, int to) {
        return new Netcheck(cluster, from, to);
    }

    /** Frames without IP on an interface that has the same name in both guests: {@code frames} or {@code mtus}. */
    String frames(String what, String netdev, String sizes) {
        String common = what + " --sizes " + sizes + " --interface " + netdev + " --node ";
        return run(common + from, common + to);
    }

    /** Datagrams: {@code udp} or {@code gso}. */
    String datagrams(String what, String sizes, String receiverOption) {
        String common = what + " --sizes " + sizes;
        return run(common + " " + receiverOption, common + " --to " + Cluster.address(to));
    }

    /** A stream to the receiver's address: {@code --bytes N} or {@code --seconds N}. */
    String tcp(String address, String length) {
        return run("tcp", "tcp --to " + address + " " + length);
    }

    /** A stream that runs while the caller does something else. */
    Running startTcp(String length) {
        Execution receiver = receiver("tcp");
        return new Running(
                receiver, cluster.node(from).start("bp-netcheck send tcp --to " + Cluster.address(to) + " " + length));
    }

    /** Waits for the end of both sides; returns what the receiver said. */
    record Running(Execution receiver, Execution sender) {
        String await() {
            // The receiver knows best what went wrong.
            ExecResult sent = sender.await(LIMIT);
            ExecResult received = receiver.await(LIMIT);
            received.ok();
            sent.ok();
            return received.out();
        }
    }

    private String run(String receive, String send) {
        Execution receiver = receiver(receive);
        Guest sender = cluster.node(from);
        return new Running(receiver, sender.start("bp-netcheck send " + send)).await();
    }

    private Execution receiver(String arguments) {
        Execution receiver = cluster.node(to).start("bp-netcheck receive " + arguments);
        receiver.awaitOutput("ready", LIMIT);
        return receiver;
    }
}
