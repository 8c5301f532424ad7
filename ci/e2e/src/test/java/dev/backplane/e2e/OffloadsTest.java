// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** VLAN tags, segmentation of each protocol, and XDP programs, with contents checked. */
@Timeout(240)
class OffloadsTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Pattern DATAGRAMS = Pattern.compile("(\\d+) datagrams intact in (\\d+) reads");

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.TWO_QUEUES;

    @Test
    void tcpSegmentationOverIpv6() {
        both("ip -6 addr replace fd77::%d/64 dev %s nodad");
        long before = Guests.counters(CLUSTER.node(2), "rx\\d_segmented");
        assertIntact(Netcheck.between(CLUSTER, 1, 2).tcp("fd77::2", "--bytes 8M"), 8 << 20);
        assertTrue(Guests.counters(CLUSTER.node(2), "rx\\d_segmented") > before, "no frame of several segments");
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void vlanCarriesFramesAndTcp(String offload) {
        both("modprobe 8021q; ethtool -K %2$s txvlan " + offload + "; ip link add link %2$s name vlan7 type vlan id 7;"
                + " ip addr add 10.78.0.%1$d/24 dev vlan7; ip link set vlan7 up");
        try {
            String frames = Netcheck.between(CLUSTER, 1, 2).frames("frames", "vlan7", "1-1500/7");
            assertTrue(frames.contains("frames intact"), frames);
            assertIntact(Netcheck.between(CLUSTER, 1, 2).tcp("10.78.0.2", "--bytes 4M"), 4 << 20);
        } finally {
            both("ip link del vlan7; ethtool -K %2$s txvlan on");
        }
    }

    @Test
    void otherVlanSeesNothing() {
        both("modprobe 8021q; ip link add link %2$s name vlan type vlan id %1$d; ip addr add 10.79.0.%1$d/24 dev vlan;"
                + " ip link set vlan up");
        try {
            assertEquals(
                    1,
                    CLUSTER.node(1)
                            .exec("ping -c 3 -i 0.1 -W 1 10.79.0.2", LONG)
                            .exitCode());
        } finally {
            both("ip link del vlan");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void udpSegmentsAreCutAtTheReceiverOrNeverAtAll(String offload) {
        both("ethtool -K %2$s tx-udp-segmentation " + offload);
        try {
            for (String option : new String[] {"", "--gro"}) {
                String out = Netcheck.between(CLUSTER, 1, 2).datagrams("gso", "1-1472/53", option);
                Matcher m = DATAGRAMS.matcher(out);
                assertTrue(m.find(), out);
                if (option.isEmpty()) {
                    assertEquals(m.group(1), m.group(2), "without UDP_GRO each read is one datagram");
                } else if (offload.equals("on")) {
                    // The write crosses the fabric in one piece, and a socket that wants it gets it so.
                    assertTrue(Long.parseLong(m.group(2)) * 20 < Long.parseLong(m.group(1)), out);
                }
            }
        } finally {
            both("ethtool -K %2$s tx-udp-segmentation on");
        }
    }

    @Test
    void xdpProgramPassesFramesOnWithWholePackets() {
        try (var program = xdp("pass")) {
            program.assertAttached();
            frames();
            // Its guest takes no offloads now: what is sent to it is cut and summed before it arrives.
            assertIntact(Netcheck.between(CLUSTER, 1, 2).tcp(Cluster.address(2), "--bytes 4M"), 4 << 20);
            assertIntact(Netcheck.between(CLUSTER, 2, 1).tcp(Cluster.address(1), "--bytes 4M"), 4 << 20);
        }
    }

    @Test
    void xdpProgramDropsItsFramesAndNoOthers() {
        try (var program = xdp("drop")) {
            program.assertAttached();
            long before = Guests.counters(CLUSTER.node(2), "rx\\d_xdp_drops");
            Execution sender = CLUSTER.node(1)
                    .start("bp-netcheck send frames --sizes 60-67 --node 2 --interface "
                            + Guests.netdev(CLUSTER.node(1)));
            Guests.awaitCounters(CLUSTER.node(2), "rx\\d_xdp_drops", before + 8);
            sender.kill(9);
            CLUSTER.node(1).exec("ping -c 2 -i 0.2 -W 5 " + Cluster.address(2)).ok();
        }
        frames();
    }

    @Test
    void xdpProgramSendsFramesBack() {
        try (var program = xdp("tx")) {
            program.assertAttached();
            String out = CLUSTER.node(1)
                    .exec("bp-netcheck send echo --sizes 1-1500/3 --node 2 --interface "
                            + Guests.netdev(CLUSTER.node(1)))
                    .ok()
                    .out();
            assertTrue(out.contains("500 frames came back"), out);
        }
    }

    /** Ends the program when the test is done with it. */
    private record Program(Execution running) implements AutoCloseable {
        void assertAttached() {
            assertFalse(running.ended(), running.err());
        }

        @Override
        public void close() {
            running.kill(15);
            running.await(LONG).ok();
        }
    }

    private static Program xdp(String action) {
        Guest g = CLUSTER.node(2);
        Execution running = g.start("exec bp-netcheck xdp " + action + " --interface " + Guests.netdev(g));
        running.awaitOutput("attached", LONG);
        return new Program(running);
    }

    private static void frames() {
        String out = Netcheck.between(CLUSTER, 1, 2).frames("frames", Guests.netdev(CLUSTER.node(1)), "1-1500/11");
        assertTrue(out.contains("frames intact"), out);
    }

    private static void assertIntact(String out, long bytes) {
        assertTrue(out.contains(bytes + " bytes intact"), out);
    }

    /** Runs a command in both guests; {@code %1$d} is the node's id, {@code %2$s} its interface. */
    private static void both(String format) {
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            g.exec(String.format(format, node, Guests.netdev(g)), LONG).ok();
        }
    }
}
