// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames between guests through the aggregation device. */
@Timeout(240)
class EthernetTest {
    private static final Duration LONG = Duration.ofMinutes(3);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @Test
    void everyNodeReachesEveryOther() {
        for (int from = 1; from <= 3; from++) {
            for (int to = 1; to <= 3; to++) {
                if (from != to) {
                    CLUSTER.node(from)
                            .exec("ping -c 3 -i 0.2 -W 5 " + Cluster.address(to))
                            .ok();
                }
            }
        }
    }

    @Test
    void broadcastReachesBothOthers() {
        CLUSTER.node(2)
                .exec("echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts")
                .ok();
        CLUSTER.node(3)
                .exec("echo 0 > /proc/sys/net/ipv4/icmp_echo_ignore_broadcasts")
                .ok();
        String out =
                CLUSTER.node(1).exec("ping -b -c 3 -i 0.5 -W 5 10.77.0.255").out();
        assertTrue(out.contains("from " + Cluster.address(2)), out);
        assertTrue(out.contains("from " + Cluster.address(3)), out);
    }

    @Test
    void unicastReachesOnlyItsTarget() {
        CLUSTER.node(1).exec("ping -c 2 -i 0.2 " + Cluster.address(2)).ok();
        Guest third = CLUSTER.node(3);
        Execution capture = third.start("tcpdump -Z root -p -n -i " + Guests.netdev(third) + " icmp and host "
                + Cluster.address(1) + " and host " + Cluster.address(2));
        capture.awaitOutput("listening on", LONG);
        CLUSTER.node(1).exec("ping -c 20 -i 0.01 " + Cluster.address(2)).ok();
        capture.kill(2);
        String summary = capture.await(LONG).err();
        assertTrue(summary.contains("0 packets captured"), capture.out() + summary);
    }

    @ParameterizedTest
    @ValueSource(ints = {1500, 9000, 65_510})
    void pingsOfEverySizeClassArriveIntactAtEachMtu(int mtu) {
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            g.exec("ip link set mtu " + mtu + " dev " + Guests.netdev(g)).ok();
        }
        try {
            // ping compares the data that comes back; 28 bytes are headers. Don't fragment: each size is one frame.
            CLUSTER.node(1)
                    .exec(
                            "for s in 0 1 17 18 19 63 64 65 511 512 1000 1471 1472 1473 4095 4096 4097 8000 8972 16000 "
                                    + "32768 65000 65482; do [ $s -le " + (mtu - 28)
                                    + " ] || continue; ping -M do -c 2 -i 0.01 -W 5 -s $s " + Cluster.address(2)
                                    + " > /tmp/p 2>&1 && ! grep -q wrong /tmp/p || { echo size $s; cat /tmp/p; exit 1;"
                                    + " }; done",
                            LONG)
                    .ok();
        } finally {
            for (int node = 1; node <= 2; node++) {
                Guest g = CLUSTER.node(node);
                g.exec("ip link set mtu 1500 dev " + Guests.netdev(g)).ok();
            }
        }
    }

    /** Short frames are sent as copies, whose completion nobody waits for, and are counted all the same. */
    @Test
    void shortFramesAreSentAsCopiesUpToTheTunablesLength() {
        Guest g = CLUSTER.node(1);
        String dev = Guests.netdev(g);
        try {
            for (int copybreak : new int[] {256, 100, 0}) {
                g.exec("ethtool --set-tunable " + dev + " tx-copybreak " + copybreak)
                        .ok();
                for (int payload : new int[] {1, 58, 59, 214, 215, 1000}) {
                    long copied = counter(g, dev, "tx0_copied");
                    long sent = counter(g, dev, "tx0_packets");
                    g.exec("ping -c 30 -i 0.01 -W 5 -s " + payload + " " + Cluster.address(2))
                            .ok();
                    // 42 bytes of headers. Other frames (ARP, IPv6) may be sent at any time, but not thirty.
                    boolean copies = counter(g, dev, "tx0_copied") - copied >= 30;
                    assertEquals(
                            payload + 42 <= copybreak, copies, "tx-copybreak " + copybreak + ", ping -s " + payload);
                    assertTrue(counter(g, dev, "tx0_packets") - sent >= 30, "sent frames are not counted");
                }
            }
            assertTrue(
                    g.exec("ethtool --set-tunable " + dev + " tx-copybreak 257").exitCode() != 0,
                    "a copy is 256 bytes at most");
        } finally {
            g.exec("ethtool --set-tunable " + dev + " tx-copybreak 256").ok();
        }
    }

    private static long counter(Guest guest, String dev, String name) {
        return Long.parseLong(guest.exec("ethtool -S " + dev + " | sed -n 's/^ *" + name + ": //p'")
                .ok()
                .out()
                .strip());
    }

    @Test
    void tcpCarriesAFileIntactBothWays() {
        Tcp.transfer(CLUSTER, 1, 2, 20_000_000);
        Tcp.transfer(CLUSTER, 2, 1, 20_000_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tx off", "tso off", "gso off", "gro off", "sg off"})
    void tcpWorksWithoutAnOffload(String offload) {
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            g.exec("ethtool -K " + Guests.netdev(g) + " " + offload).ok();
        }
        try {
            iperf("-t 2");
        } finally {
            for (int node = 1; node <= 2; node++) {
                Guest g = CLUSTER.node(node);
                g.exec("ethtool -K " + Guests.netdev(g) + " tx on sg on tso on gso on gro on")
                        .ok();
            }
        }
    }

    @Test
    void tcpMovesDataForSomeSecondsWithoutAStall() {
        String out = iperf("-t 8 -i 1");
        assertTrue(
                out.lines()
                        .filter(l -> l.contains("sec") && !l.contains("receiver"))
                        .noneMatch(l -> l.contains(" 0.00 bits")),
                out);
    }

    @Test
    void linkGoesDownAndUpUnderTraffic() {
        Guest g = CLUSTER.node(2);
        String name = Guests.netdev(g);
        Execution traffic = CLUSTER.node(1).start("ping -f -w 60 " + Cluster.address(2));
        g.exec("for i in $(seq 1 50); do ip link set " + name + " down; ip link set " + name + " up; done", LONG)
                .ok();
        traffic.kill(2);
        traffic.await(LONG);
        CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 5 " + Cluster.address(2)).ok();
    }

    private static String iperf(String arguments) {
        Execution server = CLUSTER.node(2).start("iperf3 -s -1 --forceflush");
        server.awaitOutput("listening", LONG);
        String out = CLUSTER.node(1)
                .exec("iperf3 -c " + Cluster.address(2) + " " + arguments, LONG)
                .ok()
                .out();
        server.await(LONG);
        return out;
    }
}
