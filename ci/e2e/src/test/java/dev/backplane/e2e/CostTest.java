// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What real drivers make the server do for a frame or a message, by its counters. No time is measured: a driver that reads
 * a register on its data path, or rings once too often, fails here on any machine.
 */
@Timeout(240)
class CostTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final int PINGS = 300;

    /** Frames that the guests' kernels send by themselves meanwhile: ARP, neighbour discovery. */
    private static final int STRAY = 30;

    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @Test
    void pingCostsAtMostOneDoorbellAndOneInterruptEachWay() {
        Counters one = new Counters("node1", "agg");
        Counters two = new Counters("node2", "agg");
        CLUSTER.node(1)
                .exec("ping -c " + PINGS + " -i 0.002 " + Cluster.address(2), LONG)
                .ok();
        for (Counters c : new Counters[] {one, two}) {
            c.stop();
            long sent = c.delta("tx_frames");
            long received = c.delta("rx_frames");
            assertTrue(sent >= PINGS && sent < PINGS + STRAY, c.toString());
            assertTrue(c.delta("tx_doorbells") <= sent, c.toString());
            // Buffers are given back in bulk, and the device has more: it hardly ever asks.
            assertTrue(c.delta("rx_doorbells") <= received / 8 + 1, c.toString());
            // One for a frame received; that one was sent is not worth an interrupt.
            assertTrue(c.delta("interrupts") <= received + STRAY, c.toString());
            assertEveryMessageIsADoorbell(c);
        }
    }

    @Test
    void bulkTransferSharesDoorbellsAndInterrupts() {
        Execution server = CLUSTER.node(2).start("iperf3 -s -1 --forceflush");
        server.awaitOutput("listening", LONG);
        Counters one = new Counters("node1", "agg");
        Counters two = new Counters("node2", "agg");
        CLUSTER.node(1)
                .exec("iperf3 -c " + Cluster.address(2) + " -n 64M", LONG)
                .ok();
        server.await(LONG).ok();
        for (Counters c : new Counters[] {one, two}) {
            c.stop();
            assertTrue(c.delta("tx_doorbells") <= c.delta("tx_frames"), c.toString());
            assertTrue(c.delta("interrupts") <= c.delta("rx_frames") + c.delta("tx_frames") / 8 + STRAY, c.toString());
            assertEveryMessageIsADoorbell(c);
        }
        // Segmentation is left to the receiver, which does not do it: frames are far longer than the MTU.
        assertTrue(one.delta("tx_bytes") > 8000 * one.delta("tx_frames"), one.toString());
    }

    @Test
    void polledMessagesCostTheServerNoDoorbellAndNoInterrupt() {
        int count = 3000;
        Execution server = CLUSTER.node(2).start("bp-pingpong --server --ring 21 --poll");
        server.awaitOutput("ring 21", LONG);
        Counters one = new Counters("node1", "imm");
        Counters two = new Counters("node2", "imm");
        CLUSTER.node(1)
                .exec("bp-pingpong --client --node 2 --ring 21 --size 64 --count " + count + " --poll", LONG)
                .ok();
        server.await(LONG).ok();
        for (Counters c : new Counters[] {one, two}) {
            c.stop();
            assertTrue(c.delta("puts") >= count, c.toString());
            assertEquals(0, c.delta("interrupts"), c.toString());
            // What opens and closes a context and its memory, whatever the count; a context that was asleep is woken.
            assertTrue(c.delta("messages") - c.delta("doorbells") < 100, c.toString());
        }
    }

    /** No register is read or written for a frame, and no doorbell waits for an answer. */
    private static void assertEveryMessageIsADoorbell(Counters c) {
        long doorbells = c.delta("tx_doorbells") + c.delta("rx_doorbells");
        // The kernel may set filters or read statistics meanwhile, but that does not grow with the traffic.
        assertTrue(c.delta("messages") - doorbells < STRAY, c.toString());
        assertTrue(c.delta("messages") - c.delta("posted") < STRAY, c.toString());
    }

    /** The counters of one device, now and later. */
    private static final class Counters {
        private final String node;
        private final String device;
        private final JsonNode before;
        private JsonNode after;

        Counters(String node, String device) {
            this.node = node;
            this.device = device;
            this.before = CLUSTER.counters(node);
        }

        void stop() {
            after = CLUSTER.counters(node);
        }

        long delta(String name) {
            return value(after, name) - value(before, name);
        }

        /** A counter of the device, or else of its memory or its connection. */
        private long value(JsonNode all, String name) {
            JsonNode counters = all.path(device);
            if (counters.has(name)) {
                return counters.path(name).asLong();
            }
            for (JsonNode group : counters) {
                if (group.has(name)) {
                    return group.path(name).asLong();
                }
            }
            throw new AssertionError("no counter " + name + " of " + device + ": " + all);
        }

        @Override
        public String toString() {
            return node + " " + device + "\nbefore " + before.path(device) + "\nafter  " + after.path(device);
        }
    }
}
