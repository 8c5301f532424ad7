// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** PUT and GET between user processes of different guests through the messaging module. */
@Timeout(240)
class MessagingTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @Test
    void putArrivesInTheOtherNodesRingWithItsContents() {
        Execution owner = CLUSTER.node(2).start("bp-get --listen --ring 11 --key 5 --count 1 --timeout 60");
        owner.awaitOutput("ring 11", LONG);
        CLUSTER.node(1)
                .exec("bp-put --node 2 --ring 11 --key 5 --data 'over the backplane'")
                .ok();
        assertTrue(owner.await(LONG).ok().out().contains("over the backplane"), owner.out());
    }

    @Test
    void wrongKeyIsDeniedAndAbsentRingIsNamed() {
        Execution owner = CLUSTER.node(2).start("bp-get --listen --ring 12 --key 5 --count 1 --timeout 60");
        owner.awaitOutput("ring 12", LONG);
        ExecResult denied = CLUSTER.node(1).exec("bp-put --node 2 --ring 12 --key 6 --data no");
        assertNotEquals(0, denied.exitCode());
        assertTrue(denied.err().contains("denied"), denied.toString());
        ExecResult absent = CLUSTER.node(1).exec("bp-put --node 2 --ring 13 --key 5 --data no");
        assertNotEquals(0, absent.exitCode());
        assertTrue(absent.err().contains("no such ring"), absent.toString());
        ExecResult unreachable = CLUSTER.node(1).exec("bp-put --node 99 --ring 12 --key 5 --data no");
        assertNotEquals(0, unreachable.exitCode());
        assertTrue(unreachable.err().contains("unreachable"), unreachable.toString());
        CLUSTER.node(3).exec("bp-put --node 2 --ring 12 --key 5 --data yes").ok();
        assertTrue(owner.await(LONG).ok().out().contains("yes"), owner.out());
    }

    @Test
    void ringOfADeadProcessIsWithdrawn() {
        Execution owner = CLUSTER.node(2).start("exec bp-get --listen --ring 14 --key 5 --count 1000 --timeout 100");
        owner.awaitOutput("ring 14", LONG);
        CLUSTER.node(1).exec("bp-put --node 2 --ring 14 --key 5 --data one").ok();
        owner.kill(9);
        owner.await(LONG);
        ExecResult gone = CLUSTER.node(1).exec("bp-put --node 2 --ring 14 --key 5 --data two");
        assertNotEquals(0, gone.exitCode());
        assertTrue(gone.err().contains("no such ring"), gone.toString());
    }

    @Test
    void producersInTwoGuestsFeedOneRing() {
        int each = 2000;
        Execution owner = CLUSTER.node(3)
                .start("bp-get --listen --verbose --capacity 65536 --ring 15 --key 7 --timeout 60 --count " + 2 * each);
        owner.awaitOutput("ring 15", LONG);
        List<Execution> producers = new ArrayList<>();
        for (int node = 1; node <= 2; node++) {
            producers.add(CLUSTER.node(node)
                    .start("bp-put --node 3 --ring 15 --key 7 --timeout 60 --size 700 --count " + each));
        }
        producers.forEach(p -> p.await(LONG).ok());
        String log = owner.await(LONG).ok().err();
        assertEquals(numbers(0, 2L * each), found(log, "sequence (\\d+)"), "sequence numbers of the ring");
        for (int node = 1; node <= 2; node++) {
            assertEquals(
                    numbers(0, each),
                    found(log, "node " + node + " context \\d+ sequence \\d+ tag (\\d+)"),
                    "elements of node " + node + ": each once, in order");
        }
    }

    @Test
    void consumersInTwoGuestsShareOneRing() {
        int each = 500;
        Execution owner = CLUSTER.node(2).start("bp-get --listen --shared --ring 17 --key 7 --timeout 100");
        owner.awaitOutput("ring 17", LONG);
        List<Execution> consumers = new ArrayList<>();
        for (int node : new int[] {1, 3}) {
            consumers.add(CLUSTER.node(node)
                    .start("bp-get --remote --verbose --node 2 --ring 17 --key 7 --timeout 60 --count " + each));
        }
        CLUSTER.node(3)
                .exec("bp-put --node 2 --ring 17 --key 7 --timeout 60 --count " + 2 * each, LONG)
                .ok();
        List<Long> taken = new ArrayList<>();
        for (Execution c : consumers) {
            taken.addAll(found(c.await(LONG).ok().err(), "tag (\\d+)"));
        }
        owner.kill(15);
        owner.await(LONG);
        Collections.sort(taken);
        assertEquals(numbers(0, 2L * each), taken, "each element went to exactly one consumer");
    }

    private static List<Long> numbers(long from, long to) {
        return LongStream.range(from, to).boxed().toList();
    }

    private static List<Long> found(String text, String pattern) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(m -> Long.valueOf(m.group(1)))
                .toList();
    }

    @Test
    void pollingPutMakesNoSystemCallPerMessage() {
        Execution server = CLUSTER.node(2).start("bp-pingpong --server --ring 16 --poll");
        server.awaitOutput("ring 16", LONG);
        ExecResult traced = CLUSTER.node(1)
                .exec(
                        "strace -f -c -o /tmp/calls bp-pingpong --client --node 2 --ring 16 --size 64 --count 3000 --poll; "
                                + "c=$?; cat /tmp/calls; exit $c",
                        LONG)
                .ok();
        server.await(LONG).ok();
        long calls = traced.out()
                .lines()
                .filter(l -> l.strip().endsWith(" total"))
                .map(l -> l.strip().split("\\s+"))
                .mapToLong(w -> Long.parseLong(w[3]))
                .findFirst()
                .orElseThrow(() -> new AssertionError(traced));
        // Start, set-up and end take a hundred or so, whatever the count: 3000 messages there and back add none.
        assertTrue(calls < 300, traced.toString());
    }
}
