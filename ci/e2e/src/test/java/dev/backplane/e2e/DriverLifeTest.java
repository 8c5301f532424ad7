// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The network driver is stopped and removed while its guest is flooded. */
@Timeout(value = 50, unit = TimeUnit.MINUTES)
class DriverLifeTest {
    private static final Duration LONG = Duration.ofMinutes(Netcheck.LONG_FORM ? 40 : 3);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.TWO_QUEUES;

    /** A thousand times in the long form. */
    @Test
    void interfaceGoesDownAndUpUnderTraffic() {
        Guest g = CLUSTER.node(2);
        String name = Guests.netdev(g);
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            flood.awaitMore(20);
            g.exec(
                            "for i in $(seq 1 " + (Netcheck.LONG_FORM ? 1000 : 20) + "); do ip link set " + name
                                    + " down && ip link set " + name + " up || exit 1; done",
                            LONG)
                    .ok();
        }
        assertReachable();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rmmod bp_agg && modprobe bp_agg",
                "echo $d > ../drivers/bp_agg/unbind && echo $d > ../drivers/bp_agg/bind",
                "echo 1 > $d/reset",
                "echo 1 > $d/remove && echo 1 > /sys/bus/pci/rescan"
            })
    void driverComesBackUnderTraffic(String how) {
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            flood.awaitMore(20);
            CLUSTER.node(2)
                    .exec(
                            "cd /sys/bus/pci/drivers/bp_agg; d=$(ls -d 0000:*); cd /sys/bus/pci/devices;"
                                    + " for i in 1 2 3 4; do " + how + " && bp-net || exit 1; done",
                            LONG)
                    .ok();
        }
        assertReachable();
    }

    /** Whatever the driver has freed belongs to somebody else at once: the device must not write to it any more. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ip link set $n down; ip link set $n up",
                "rmmod bp_agg; modprobe bp_agg",
                "echo $d > /sys/bus/pci/drivers/bp_agg/unbind; echo $d > /sys/bus/pci/drivers/bp_agg/bind"
            })
    void freedMemoryStaysUntouchedWhileOthersFlood(String how) {
        String[] steps = how.split("; ", 2);
        Guest g = CLUSTER.node(2);
        String n = Guests.netdev(g);
        String d = g.exec("basename $(readlink -f /sys/class/net/" + n + "/device)")
                .ok()
                .out()
                .strip();
        String names = "n=" + n + "; d=" + d + "; ";
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            g.exec(names + steps[0], LONG).ok();
            Execution guard = g.start("exec bp-netcheck guard");
            guard.awaitOutput("guarding", LONG);
            flood.awaitMore(300);
            guard.kill(15);
            String out = guard.await(LONG).ok().out();
            assertTrue(out.contains("pages unchanged"), out);
            g.exec(names + steps[1] + "; bp-net", LONG).ok();
        }
        assertReachable();
    }

    private static void assertReachable() {
        CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 10 " + Cluster.address(2)).ok();
        String out = Netcheck.between(CLUSTER, 1, 2).tcp(Cluster.address(2), "--bytes 1M");
        assertTrue(out.contains("1048576 bytes intact"), out);
    }
}
