// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ethtool} sets and tests; most of it while a stream runs, which has to arrive whole. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class DriverSettingsTest {
    private static final Duration LONG = Duration.ofMinutes(4);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.TWO_QUEUES;

    @ParameterizedTest
    @ValueSource(strings = {"online", "offline"})
    void selfTestPasses(String how) {
        String out = ethtool("-t %s " + how);
        assertTrue(out.contains("PASS") && out.contains("registers"), out);
    }

    @Test
    void moderationIsReadBackAsItWasSet() {
        try {
            ethtool("-C %s rx-usecs 70 rx-frames 9 tx-usecs 300 tx-frames 40");
            assertCoalesce("rx-usecs", "70");
            assertCoalesce("rx-frames", "9");
            assertCoalesce("tx-usecs", "300");
            assertCoalesce("tx-frames", "40");
            assertCoalesce("Adaptive RX", "off");
            ethtool("-C %s adaptive-rx on");
            assertCoalesce("Adaptive RX", "on");
            assertCoalesce("rx-usecs", "70");
            ethtool("-C %s adaptive-rx off");
            assertCoalesce("Adaptive RX", "off");
        } finally {
            ethtool("-C %s rx-usecs 0 rx-frames 0 tx-usecs 1000 tx-frames 128");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"-C %s rx-usecs 1000001", "-C %s tx-frames 0", "-G %s rx 100", "-G %s rx 16", "-L %s combined 9"
            })
    void impossibleSettingIsRefused(String setting) {
        Guest g = CLUSTER.node(2);
        ExecResult result = g.exec("ethtool " + String.format(setting, Guests.netdev(g)));
        assertTrue(result.exitCode() != 0, result.toString());
        assertTrue(!result.err().isBlank(), result.toString());
    }

    @Test
    void moderatedInterruptsAreAtLeastTheirDelayApart() {
        Guest g = CLUSTER.node(2);
        ethtool("-C %s rx-usecs 20000");
        try {
            // Interrupts before, time, interrupts after: of the receive queues alone, since nothing is sent but
            // answers.
            String script = "i() { ethtool -S " + Guests.netdev(g)
                    + " | awk '/pair[0-9]_interrupts/ { s += $2 } END { print s }'; };"
                    + " t() { cut -d' ' -f1 /proc/uptime; }; ethtool -C " + Guests.netdev(g)
                    + " tx-usecs 1000000 tx-frames 4096; a=$(i); b=$(t); read go < /tmp/go; c=$(i); d=$(t);"
                    + " echo $((c - a)) $b $d";
            Execution counting = g.start("rm -f /tmp/go; mkfifo /tmp/go; echo counting; " + script);
            counting.awaitOutput("counting", LONG);
            CLUSTER.node(1)
                    .exec("ping -q -c 400 -i 0.005 " + Cluster.address(2), LONG)
                    .ok();
            g.exec("echo > /tmp/go").ok();
            String[] words =
                    counting.await(LONG).ok().out().lines().toList().getLast().split(" ", 3);
            double seconds = Double.parseDouble(words[2]) - Double.parseDouble(words[1]);
            long interrupts = Long.parseLong(words[0]);
            // Two queues; the timer of sent frames polls without an interrupt.
            assertTrue(interrupts <= 2 * (seconds / 0.020 + 4), interrupts + " interrupts in " + seconds + " s");
        } finally {
            ethtool("-C %s rx-usecs 0 tx-usecs 1000 tx-frames 128");
        }
    }

    @Test
    void adaptiveModerationChoosesUnderLoad() {
        Guest g = CLUSTER.node(2);
        ethtool("-C %s adaptive-rx on");
        try {
            long before = Guests.counters(g, "pair\\d_adaptations");
            Execution flood = CLUSTER.node(1).start("ping -q -f -w 100 " + Cluster.address(2));
            Guests.awaitCounters(g, "pair\\d_adaptations", before + 1);
            flood.kill(2);
            flood.await(LONG);
        } finally {
            ethtool("-C %s adaptive-rx off");
        }
        long after = Guests.counters(g, "pair\\d_adaptations");
        CLUSTER.node(1)
                .exec("ping -q -c 300 -i 0.002 " + Cluster.address(2), LONG)
                .ok();
        assertEquals(after, Guests.counters(g, "pair\\d_adaptations"), "it is off");
    }

    /** Small frames faster than the guest can take them: it receives in turn with its processes, and goes on to work. */
    @Test
    void floodedGuestReceivesInTurnWithItsProcesses() {
        Guest sender = CLUSTER.node(1);
        Guest g = CLUSTER.node(2);
        String name = Guests.netdev(sender);
        Execution flood = sender.start("modprobe pktgen; cd /proc/net/pktgen; echo add_device " + name
                + " > kpktgend_0; for s in 'count 0' 'pkt_size 64' 'dst " + Cluster.address(2)
                + "' 'dst_mac 02:ba:5c:00:00:02'; do echo $s > " + name + "; done; echo start > pgctrl");
        Guests.awaitCounters(g, "pair\\d_turns", Guests.counters(g, "pair\\d_turns") + 20);
        sender.exec("echo stop > /proc/net/pktgen/pgctrl").ok();
        flood.await(LONG).ok();
        sender.exec("rmmod pktgen").ok();
        sender.exec("ping -c 3 -i 0.2 -W 10 " + Cluster.address(2)).ok();
    }

    @Test
    void ringSizesAndQueuesChangeUnderTraffic() {
        Netcheck.Running stream = Netcheck.between(CLUSTER, 1, 2).startTcp("--seconds 8");
        for (int node : new int[] {2, 1}) {
            Guest g = CLUSTER.node(node);
            String name = Guests.netdev(g);
            g.exec(
                            "for r in 1 2; do for s in 32 4096 512; do ethtool -G " + name
                                    + " rx $s tx $s || exit 1; done;"
                                    + " ethtool -G " + name + " tx 2 && ethtool -G " + name + " tx 512 || exit 1;"
                                    + " for l in 1 2; do ethtool -L " + name + " combined $l || exit 1; done; done",
                            LONG)
                    .ok();
        }
        String out = stream.await();
        assertTrue(out.contains("bytes intact"), out);
    }

    /** Ten minutes in the long form. */
    @Test
    void streamRunsBothWaysWithoutAStallOrALostByte() {
        String length = "--seconds " + (Netcheck.LONG_FORM ? 600 : 5);
        Netcheck.Running there = Netcheck.between(CLUSTER, 1, 2).startTcp(length);
        Netcheck.Running back = Netcheck.between(CLUSTER, 2, 1).startTcp(length);
        assertTrue(there.await().contains("bytes intact"));
        assertTrue(back.await().contains("bytes intact"));
        for (int node = 1; node <= 2; node++) {
            Guest g = CLUSTER.node(node);
            assertEquals(0, Guests.counters(g, "queue_errors"), "of node" + node);
        }
    }

    private static void assertCoalesce(String name, String value) {
        String out = ethtool("-c %s");
        assertTrue(
                out.lines().anyMatch(l -> l.matches(name + ":\\s+" + value + "(\\s.*)?")),
                name + " is not " + value + "\n" + out);
    }

    private static String ethtool(String format) {
        Guest g = CLUSTER.node(2);
        return g.exec("ethtool " + String.format(format, Guests.netdev(g)), LONG)
                .ok()
                .out();
    }
}
