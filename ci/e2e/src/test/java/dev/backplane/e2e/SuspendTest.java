// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A guest sleeps while it is flooded, to idle or to memory, is woken, and both drivers work as before. */
@Timeout(300)
class SuspendTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final long KEY_INTERVAL_NANOS = 200_000_000L;
    private static final int TIMES = 3;

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.TWO_QUEUES;

    @Test
    void bothDriversWorkAfterSleepToIdle() {
        Guest g = CLUSTER.node(2);
        assertTraffic();
        g.exec("echo enabled > /sys/bus/serio/devices/serio0/power/wakeup; echo s2idle > /sys/power/mem_sleep")
                .ok();
        long before = sleeps(g);
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            for (int i = 0; i < TIMES; i++) {
                // A key that comes too early ends the attempt, not the test.
                Execution asleep = g.start("until echo mem > /sys/power/state; do :; done");
                await(() -> !linkUp());
                flood.awaitMore(20);
                await(() -> {
                    pressKey(g);
                    return asleep.ended();
                });
                asleep.await(LONG).ok();
            }
        }
        assertEquals(before + TIMES, sleeps(g));
        assertTraffic();
        assertNothingAllocated();
    }

    /** QEMU resets all devices when it wakes a guest from S3: the drivers find them as after power-on. */
    @Test
    void bothDriversWorkAfterSleepToMemory() {
        Guest g = CLUSTER.node(2);
        assertTraffic();
        g.exec("echo deep > /sys/power/mem_sleep").ok();
        long before = sleeps(g);
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            Execution asleep = g.start("echo mem > /sys/power/state");
            g.qmp().awaitEvent("SUSPEND", LONG);
            flood.awaitMore(20);
            g.qmp().execute("system_wakeup");
            asleep.await(LONG).ok();
        }
        assertEquals(before + 1, sleeps(g));
        assertTraffic();
        assertNothingAllocated();
    }

    private static void assertNothingAllocated() {
        assertEquals(
                0,
                CLUSTER.server().api().get("/memory").path("allocated_bytes").asLong(-1),
                () -> CLUSTER.server().api().text("/memory"));
    }

    private static boolean linkUp() {
        return CLUSTER.server()
                .api()
                .get("/nodes/node2")
                .path("port")
                .path("link")
                .asText()
                .equals("up");
    }

    private static void pressKey(Guest g) {
        ObjectNode keys = JsonNodeFactory.instance.objectNode();
        keys.putArray("keys").addObject().put("type", "qcode").put("data", "ctrl");
        g.qmp().execute("send-key", keys);
    }

    /** Nobody tells that a guest sleeps, or has woken: looks now and then. */
    private static void await(BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - start < LONG.toNanos(), "it does not come");
            LockSupport.parkNanos(KEY_INTERVAL_NANOS);
        }
    }

    /** How often the guest has slept. */
    private static long sleeps(Guest g) {
        return Long.parseLong(
                g.exec("cat /sys/power/suspend_stats/success").ok().out().strip());
    }

    private static void assertTraffic() {
        CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 10 " + Cluster.address(2)).ok();
        String out = Netcheck.between(CLUSTER, 1, 2).tcp(Cluster.address(2), "--bytes 1M");
        assertTrue(out.contains("1048576 bytes intact"), out);
        Execution owner = CLUSTER.node(2).start("bp-get --listen --count 1 --timeout 60 --ring 31");
        owner.awaitOutput("ring 31", LONG);
        CLUSTER.node(1).exec("bp-put --data awake --node 2 --ring 31").ok();
        assertTrue(owner.await(LONG).ok().out().contains("awake"), owner.out());
    }
}
