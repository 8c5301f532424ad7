// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What 1024 open contexts cost while nobody uses them, and what their processes see when the device server is killed. */
@Timeout(300)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MessagingEndTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int CONTEXTS = 1024;

    @RegisterExtension
    static final Cluster CLUSTER = Cluster.of(1).withServerArguments("--topology", topology());

    private static Execution idle;

    private static String topology() {
        try {
            Path file = Files.createTempFile("bp-", ".yaml");
            file.toFile().deleteOnExit();
            Files.writeString(
                    file, "messaging: {contexts: " + (CONTEXTS + 16) + "}\nnodes:\n  - {name: node1, id: 1}\n");
            return file.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Everything that moves when the server does something for the messaging module. */
    private static Map<String, Long> work() {
        JsonNode all = CLUSTER.server().api().get("/counters");
        Map<String, Long> work = new TreeMap<>();
        collect("imm", all.path("nodes").path("node1").path("imm"), work);
        all.fieldNames().forEachRemaining(name -> {
            if (name.startsWith("poller")) {
                collect(name, all.path(name), work);
            }
        });
        assertTrue(work.containsKey("imm.doorbells") && work.containsKey("poller0.wakeups"), work.toString());
        return work;
    }

    private static void collect(String prefix, JsonNode node, Map<String, Long> to) {
        node.properties().forEach(e -> {
            if (e.getValue().isNumber()) {
                to.put(prefix + "." + e.getKey(), e.getValue().asLong());
            } else {
                collect(prefix + "." + e.getKey(), e.getValue(), to);
            }
        });
    }

    private static Map<String, Long> changed(Map<String, Long> before, Map<String, Long> after) {
        Map<String, Long> changed = new TreeMap<>();
        after.forEach((name, value) -> {
            if (value - before.getOrDefault(name, 0L) != 0) {
                changed.put(name, value - before.getOrDefault(name, 0L));
            }
        });
        return changed;
    }

    @Test
    @Order(1)
    void thousandIdleContextsCostNothingAndTheFirstPutAfterwardsCompletes() {
        Guest guest = CLUSTER.node(1);
        // Opened for writing, too, so that the input never ends.
        idle = guest.start("mkfifo /tmp/put && exec bp-stress --idle " + CONTEXTS + " <>/tmp/put");
        idle.awaitOutput(CONTEXTS + " contexts are idle", LONG);
        Map<String, Long> before = work();
        // The last of them may still be falling asleep: nothing moves any more once they sleep.
        for (Map<String, Long> now = null; !before.equals(now); ) {
            before = now == null ? before : now;
            guest.exec("sleep 0.5").ok();
            now = work();
        }
        guest.exec("sleep 2; ls /proc >/dev/null").ok();
        assertEquals(Map.of(), changed(before, work()), "nothing moved while nobody did anything");

        guest.exec("echo 700 >/tmp/put").ok();
        idle.awaitOutput("context 700 has put", LONG);
        Map<String, Long> moved = changed(before, work());
        assertEquals(1, moved.get("imm.puts"), moved.toString());
        assertEquals(1, moved.get("imm.doorbells"), "one doorbell wakes the module: " + moved);
    }

    @Test
    @Order(2)
    void processesOfAKilledServerGetAnErrorAndTheirGuestLives() {
        Guest guest = CLUSTER.node(1);
        // Its driver looks at registers, too, every two seconds, and QEMU must not be in the middle of that
        // (README.md).
        guest.exec("rmmod bp_agg").ok();
        List<Execution> waiting = new ArrayList<>();
        waiting.add(guest.start("exec bp-get --listen --ring 5"));
        waiting.add(guest.start("exec bp-get --listen --poll --ring 6"));
        guest.start("exec bp-get --listen --shared --ring 7").awaitOutput("ring 7", LONG);
        waiting.add(guest.start("exec bp-get --remote --node 1 --ring 7"));
        waiting.get(0).awaitOutput("ring 5", LONG);
        waiting.get(1).awaitOutput("ring 6", LONG);
        CLUSTER.server().kill();
        for (Execution e : waiting) {
            ExecResult result = e.await(LONG);
            assertNotEquals(0, result.exitCode(), result.toString());
            assertTrue(result.err().contains("gone"), result.toString());
        }
        guest.exec("echo 3 >/tmp/put").ok();
        assertTrue(idle.await(LONG).err().contains("gone"), idle.err());
        ExecResult late = guest.exec("bp-put --node 1 --ring 5");
        assertNotEquals(0, late.exitCode(), late.toString());
        assertTrue(late.err().contains("gone"), late.toString());
        assertEquals(
                "dead",
                guest.exec("cat /sys/class/misc/bp_imm0/state").ok().out().strip());
        guest.exec("rmmod bp_imm").ok();
        assertTrue(guest.alive());
    }
}
