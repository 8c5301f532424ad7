// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.ExecResult;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.GuestConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A guest that does not share its memory, beside one that does: each access of a device to it is a message to QEMU and
 * back. Both devices work, slowly, and the other guest is not held up.
 */
@Timeout(300)
class PrivateMemoryTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    /** The guest whose memory is QEMU's alone. */
    private static final int PRIVATE = 2;

    @RegisterExtension
    static final Cluster CLUSTER = Cluster.of(2).withDevices(PrivateMemoryTest::memory);

    private static List<String> memory(int node) {
        return node != PRIVATE
                ? List.of()
                : List.of(
                        "-object",
                        "memory-backend-ram,id=private,size=" + GuestConfig.DEFAULT_MEGABYTES + "M,share=off",
                        "-machine",
                        "memory-backend=private");
    }

    private static long messages(int node, String device) {
        return CLUSTER.counters("node" + node)
                .path(device)
                .findValue("dma_messages")
                .asLong(-1);
    }

    /** What makes this class worth its time: the first guest's memory is reached directly, the second one's never. */
    @AfterEach
    void onlyThePrivateGuestIsReachedByMessages() {
        for (String device : List.of("agg", "imm")) {
            assertEquals(0, messages(1, device), device);
            assertTrue(messages(PRIVATE, device) > 0, device);
        }
    }

    /** {@code bp-stress} checks every element: whole, once, in order. */
    @ParameterizedTest
    @CsvSource({"1, 2", "2, 1"})
    void elementsArriveWholeAndInOrder(int from, int to) {
        Execution owner = CLUSTER.node(to).start("exec bp-stress --take --ring 50 --producers 1");
        owner.awaitOutput("ring 50", LONG);
        CLUSTER.node(from)
                .exec("bp-stress --put --node " + to + " --ring 50 --count 200", LONG)
                .ok();
        owner.await(LONG).ok();
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "2, 1"})
    void elementsAreRemovedFromAfar(int from, int to) {
        Execution owner = CLUSTER.node(to).start("exec bp-get --listen --shared --ring 51 --timeout 200");
        owner.awaitOutput("ring 51", LONG);
        String put = "bp-put --crc --node " + to + " --ring 51 --size 30000 --count 3";
        String sent = CLUSTER.node(from).exec(put, LONG).ok().out();
        ExecResult got = CLUSTER.node(from)
                .exec("bp-get --crc --remote --node " + to + " --ring 51 --count 3", LONG)
                .ok();
        owner.kill(15);
        owner.await(LONG);
        assertTrue(got.out().startsWith("30000 bytes crc32 "), got.toString());
        assertEquals(sent, got.out());
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "2, 1"})
    void memoryAndAtomicsAreReachedFromAfar(int from, int to) {
        Execution server = CLUSTER.node(to).start("exec bp-perf --server --interrupt");
        server.awaitOutput("ring 41", LONG);
        for (String op : List.of("write --size 8,70000", "read --size 8,70000", "fetch-add", "compare-swap")) {
            CLUSTER.node(from)
                    .exec("bp-perf --interrupt --count 20 --node " + to + " --op " + op, LONG)
                    .ok();
        }
        server.kill(9);
        server.await(LONG);
    }

    @Test
    void streamsArriveWhole() {
        for (int to = 1; to <= 2; to++) {
            String out = Netcheck.between(CLUSTER, 3 - to, to).tcp(Cluster.address(to), "--bytes 256K");
            assertTrue(out.contains("262144 bytes intact"), out);
        }
    }

    /** Limits, fork, exec, kill, codes, hostile processes, in the guest whose memory is reached by messages. */
    @Test
    void theDriversOwnTestsPass() {
        String told = CLUSTER.node(PRIVATE).exec("bp-selftest", LONG).ok().out();
        assertTrue(told.contains("\n1..") && !told.contains("not ok") && !told.contains("# SKIP"), told);
    }

    /** Both guests put into each other's rings as fast as they can; meanwhile the other one's own work goes on. */
    @Test
    void theOtherGuestIsNotHeldUp() {
        List<Execution> owners = new ArrayList<>();
        List<Execution> endless = new ArrayList<>();
        for (int to = 1; to <= 2; to++) {
            owners.add(CLUSTER.node(to).start("exec bp-stress --take --ring 52 --producers 1"));
            owners.getLast().awaitOutput("ring 52", LONG);
            endless.add(CLUSTER.node(3 - to).start("exec bp-stress --put --ring 52 --node " + to));
        }
        endless.add(CLUSTER.node(1).start("exec bp-perf --server --yield"));
        CLUSTER.node(1).exec("bp-perf --yield --node 1 --count 3000", LONG).ok();

        for (Execution e : endless) {
            assertFalse(e.ended(), e.err());
            e.kill(9);
            e.await(LONG);
        }
        for (int to = 1; to <= 2; to++) {
            CLUSTER.node(3 - to)
                    .exec("bp-stress --put --ring 52 --count 10 --node " + to)
                    .ok();
            owners.get(to - 1).await(LONG).ok();
        }
    }
}
