// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Producers in three guests to one ring, with elements of random sizes; some are killed while actions are in flight, and
 * the ring is full most of the time. {@code bp-stress} checks every element. {@code -De2e.stress=SECONDS} makes it last.
 */
@Timeout(7200)
class MessagingStressTest {
    private static final int SECONDS = Integer.getInteger("e2e.stress", 0);
    private static final int NODES = 3;
    private static final int TARGET = 3;
    private static final int STEADY = 2;
    private static final Duration LIMIT = Duration.ofSeconds(150 + 2L * SECONDS);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @Test
    void everyElementArrivesOnceInOrderAndWholeWhoeverIsKilled() throws IOException {
        String target = "--node " + TARGET + " --ring 60 --key 7";
        Execution consumer = CLUSTER.node(TARGET)
                .start("exec bp-stress --take --ring 60 --key 7 --pause 1000 --producers " + NODES * (STEADY + 1));
        consumer.awaitOutput("ring 60", LIMIT);
        String length = SECONDS > 0 ? "--seconds " + SECONDS : "--count 1000";
        List<Execution> producers = new ArrayList<>();
        for (int node = 1; node <= NODES; node++) {
            for (int i = 0; i < STEADY; i++) {
                producers.add(CLUSTER.node(node)
                        .start("exec bp-stress --put " + target + " " + length + " --seed " + (10 * node + i)));
            }
            producers.add(CLUSTER.node(node).start(mortals(target)));
        }
        for (Execution p : producers) {
            p.await(LIMIT).ok();
        }
        String out = consumer.await(LIMIT).ok().out();
        System.out.println(
                "stress: " + out.strip() + ", " + CLUSTER.counters("node1").path("imm"));
        JsonNode seen = new ObjectMapper().readTree(out);
        assertTrue(seen.path("turns").asLong() > 10, "the ring went round: " + out);
        assertTrue(seen.path("lives").asLong() > NODES * (STEADY + 1), "some were killed: " + out);
        long waits = 0;
        for (int node = 1; node <= NODES; node++) {
            JsonNode imm = CLUSTER.counters("node" + node).path("imm");
            waits += imm.path("waits").asLong() + imm.path("full").asLong();
            assertEquals(0, imm.path("ring_corrupt").asLong(), imm.toString());
        }
        assertTrue(waits > 0, "the ring was full");
    }

    /** One producer after the other, each killed after a random time; the last one ends by itself. */
    private static String mortals(String target) {
        String more = SECONDS > 0 ? "[ $(date +%s) -lt $end ]" : "[ $i -lt 12 ]";
        return "end=$(($(date +%s) + " + SECONDS + ")); i=0; while " + more + "; do i=$((i + 1)); "
                + "bp-stress --put " + target + " --seed $i & p=$!; "
                + "sleep 0.$(($(od -An -N2 -tu2 /dev/urandom) % 9 + 1)); kill -9 $p; wait $p; done; "
                + "exec bp-stress --put " + target + " --count 100";
    }
}
