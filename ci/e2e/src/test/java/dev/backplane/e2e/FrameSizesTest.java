// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Frames and datagrams of every size, at every MTU, with contents checked. The short form takes every size up to 1500 and
 * every so-manieth beyond; {@code -Dbackplane.long=true} takes all.
 */
@Timeout(value = 40, unit = TimeUnit.MINUTES)
class FrameSizesTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int MAX_MTU = 65_510;
    private static final String OFFLOADS = "tx sg tso tx-udp-segmentation gso gro";

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.TWO_QUEUES;

    @AfterEach
    void restore() {
        mtu(1500);
        offloads("on");
    }

    @Test
    void frameOfEverySizeArrivesIntactBothWays() {
        for (int[] way : new int[][] {{1, 2}, {2, 1}}) {
            frames(way[0], way[1], "frames", "1-1500");
        }
        mtu(MAX_MTU);
        frames(1, 2, "frames", "1501-" + MAX_MTU + step(251));
    }

    @Test
    void everyMtuTakesAFrameThatLong() {
        frames(1, 2, "mtus", "68-" + MAX_MTU + step(499));
    }

    @ParameterizedTest
    @CsvSource({"on,1500", "off,1500", "on,9000", "off,9000", "on,65510", "off,65510"})
    void datagramOfEverySizeArrivesIntact(String offloads, int mtu) {
        mtu(mtu);
        offloads(offloads);
        String sizes = "1-" + (mtu - 28) + step(mtu == 1500 ? 3 : mtu / 97);
        String out = Netcheck.between(CLUSTER, 1, 2).datagrams("udp", sizes, "");
        assertTrue(out.contains("frames intact"), out);
    }

    @ParameterizedTest
    @CsvSource({"on,1500", "off,1500", "on,9000", "off,9000", "on,65510", "off,65510"})
    void streamArrivesIntact(String offloads, int mtu) {
        mtu(mtu);
        offloads(offloads);
        String out = Netcheck.between(CLUSTER, 2, 1).tcp(Cluster.address(1), "--bytes 8M");
        assertTrue(out.contains("8388608 bytes intact"), out);
    }

    private static String step(int shortForm) {
        return Netcheck.LONG_FORM ? "" : "/" + shortForm;
    }

    private static void frames(int from, int to, String what, String sizes) {
        String out = Netcheck.between(CLUSTER, from, to).frames(what, Guests.netdev(CLUSTER.node(from)), sizes);
        assertTrue(out.contains("intact"), out);
    }

    private static void mtu(int mtu) {
        both("ip link set mtu " + mtu + " dev ");
    }

    private static void offloads(String state) {
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            String name = Guests.netdev(g);
            g.exec("for o in " + OFFLOADS + "; do ethtool -K " + name + " $o " + state + "; done", LONG)
                    .ok();
        }
    }

    private static void both(String command) {
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            g.exec(command + Guests.netdev(g), LONG).ok();
        }
    }
}
