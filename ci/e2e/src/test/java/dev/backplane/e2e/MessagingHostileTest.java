// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The driver's own tests, in a guest: limits, fork, exec, SIGKILL with all slots in flight, random values all over a
 * context page and a ring, each wrong field. Meanwhile two other guests go on talking, and every element of theirs is
 * checked.
 */
@Timeout(400)
class MessagingHostileTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @Test
    void hostileProcessesHurtNobodyElse() {
        Execution consumer = CLUSTER.node(3).start("exec bp-stress --take --ring 61 --producers 1");
        consumer.awaitOutput("ring 61", LONG);
        Execution traffic = CLUSTER.node(2).start("exec bp-stress --put --node 3 --ring 61");
        // Into the hostile guest, too: what its own processes do to it must not stop others' actions.
        Execution victim = CLUSTER.node(1).start("exec bp-stress --take --ring 62 --producers 1");
        victim.awaitOutput("ring 62", LONG);
        Execution guest = CLUSTER.node(3).start("exec bp-stress --put --node 1 --ring 62");

        ExecResult tests = CLUSTER.node(1).exec("bp-selftest", LONG);
        assertTrue(tests.out().contains("\n1.."), tests.toString());
        assertFalse(tests.out().contains("not ok"), tests.toString());
        assertFalse(tests.out().contains("# SKIP"), tests.toString());
        tests.ok();

        assertFalse(consumer.ended() || traffic.ended(), consumer.err() + traffic.err());
        assertFalse(victim.ended() || guest.ended(), victim.err() + guest.err());
        traffic.kill(9);
        guest.kill(9);
        traffic.await(LONG);
        guest.await(LONG);
        CLUSTER.node(2).exec("bp-stress --put --node 3 --ring 61 --count 10").ok();
        CLUSTER.node(3).exec("bp-stress --put --node 1 --ring 62 --count 10").ok();
        consumer.await(LONG).ok();
        victim.await(LONG).ok();
    }
}
