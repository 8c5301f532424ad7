// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.devices.MacAddress;
import dev.backplane.devices.imm.Completion;
import dev.backplane.server.api.ApiClient;
import dev.backplane.server.guest.RemoteModule;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.protocol.Limits;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes without virtual machines, through the sockets of a whole server, and what the management interface says. */
@Timeout(60)
class TwoNodesTest {
    private static final long KEY = 0x1122_3344_5566_7788L;

    @TempDir
    private Path temp;

    private DeviceServer server;
    private ApiClient api;

    @BeforeEach
    void start() throws Exception {
        server = DeviceServer.start(
                Topology.ofNodes(2), new ServeOptions(temp.resolve("run"), 1, false, false), ManagementRoutes::of);
        api = new ApiClient(temp.resolve("run/backplane.sock"));
    }

    @AfterEach
    void end() {
        server.close();
    }

    private Path socket(String name) {
        return temp.resolve("run").resolve(name);
    }

    private static byte[] frame(MacAddress to, MacAddress from, String text) {
        ByteBuffer frame = ByteBuffer.allocate(14 + text.length());
        for (MacAddress mac : new MacAddress[] {to, from}) {
            for (int i = 0; i < 6; i++) {
                frame.put((byte) mac.octet(i));
            }
        }
        return frame.putShort((short) 0x88b5)
                .put(text.getBytes(StandardCharsets.US_ASCII))
                .array();
    }

    @Test
    void framesGoFromOneNodeToTheOther() throws Exception {
        try (RemoteNic one = new RemoteNic(socket("node1.agg.sock"));
                RemoteNic two = new RemoteNic(socket("node2.agg.sock"))) {
            assertTrue(one.linkUp() && two.linkUp());
            for (int i = 0; i < 40; i++) {
                byte[] there = frame(MacAddress.ofNode(2), MacAddress.ofNode(1), "frame " + i);
                assertEquals(0, one.send(there));
                assertArrayEquals(there, two.receive());
                byte[] back = frame(MacAddress.BROADCAST, MacAddress.ofNode(2), "answer " + i);
                assertEquals(0, two.send(back));
                assertArrayEquals(back, one.receive());
            }
            JsonNode counters = api.get("/counters").path("nodes");
            assertEquals(
                    40, counters.path("node1").path("agg").path("tx_frames").asInt(), counters.toString());
            assertEquals(
                    40, counters.path("node2").path("agg").path("rx_frames").asInt());
            RemoteNic.awaitTrue(
                    "all places to be free",
                    () -> api.get("/memory").path("allocated_bytes").asLong() == 0);
            String metrics = api.text("/metrics");
            assertTrue(metrics.contains("backplane_agg_tx_frames_total{node=\"node1\"} 40.0"), metrics);
            assertTrue(
                    metrics.contains("backplane_connection_connects_total{device=\"agg\",node=\"node2\"} 1.0"),
                    metrics);
        }
    }

    @Test
    void elementsArePutIntoAndGotFromARingOfAnotherNode() throws Exception {
        try (RemoteModule one = new RemoteModule(socket("node1.imm.sock"));
                RemoteModule two = new RemoteModule(socket("node2.imm.sock"))) {
            int ring = two.createRing(KEY);
            for (int i = 0; i < 20; i++) {
                byte[] payload = ("element " + i).getBytes(StandardCharsets.US_ASCII);
                assertEquals(Completion.OK, one.put(2, ring, KEY, payload));
                RemoteModule.Result got = (i % 2 == 0 ? one : two).get(2, ring, KEY);
                assertEquals(Completion.OK, got.status());
                assertArrayEquals(payload, got.payload());
            }
            JsonNode seen = api.get("/rings").path("rings");
            assertEquals(1, seen.size(), seen.toString());
            assertEquals("node2", seen.path(0).path("node").asText());
            assertEquals(ring, seen.path(0).path("id").asInt());
            assertEquals("open", seen.path(0).path("state").asText());
            assertEquals(20, seen.path(0).path("put").asInt());
            assertEquals(20, seen.path(0).path("got").asInt());
            JsonNode contexts = api.get("/contexts").path("contexts");
            assertEquals(2, contexts.size(), contexts.toString());
            assertEquals("node1", contexts.path(0).path("node").asText());
            assertEquals(30, contexts.path(0).path("actions").asInt(), contexts.toString());
            assertEquals(Completion.DENIED, one.put(2, ring, KEY + 1, new byte[8]));
            assertEquals(Completion.EMPTY, one.get(2, ring, KEY).status());
        }
    }

    @Test
    void doorbellsNeedNoMessages() throws Exception {
        try (RemoteNic one = new RemoteNic(socket("node1.agg.sock"));
                RemoteNic two = new RemoteNic(socket("node2.agg.sock"));
                RemoteModule module = new RemoteModule(socket("node1.imm.sock"))) {
            assertTrue(one.useIoEvents() >= 2, "doorbells of the first pair of queues");
            assertTrue(two.useIoEvents() >= 2);
            assertTrue(module.useIoEvents() >= 1, "doorbell of context 0");
            int ring = module.createRing(KEY);
            long messages = sum("messages", "node1.agg");
            for (int i = 0; i < 40; i++) {
                byte[] there = frame(MacAddress.ofNode(2), MacAddress.ofNode(1), "frame " + i);
                assertEquals(0, one.send(there));
                assertArrayEquals(there, two.receive());
                assertEquals(Completion.OK, module.put(1, ring, KEY, new byte[8]));
                assertEquals(Completion.OK, module.get(1, ring, KEY).status());
            }
            assertEquals(messages, sum("messages", "node1.agg"), "messages while frames went");
            assertTrue(sum("io_events", "node1.agg") >= 1);
            assertTrue(sum("io_events", "node2.agg") >= 1);
        }
    }

    private long sum(String counter, String socket) {
        NodeRuntime node = server.node(socket.substring(0, 5));
        return (socket.endsWith("agg") ? node.agg() : node.imm())
                .counters().stream()
                        .flatMap(g -> g.all().stream())
                        .filter(c -> c.name().equals(counter))
                        .mapToLong(Counter::get)
                        .sum();
    }

    @Test
    void thePortCanBeTakenDownFromOutside() throws Exception {
        try (RemoteNic one = new RemoteNic(socket("node1.agg.sock"))) {
            assertEquals("up", api.get("/nodes/node1").path("port").path("link").asText());
            JsonNode port = api.put("/nodes/node1/port", Map.of("admin", "down"));
            assertEquals("down", port.path("admin").asText());
            assertEquals("down", port.path("link").asText());
            assertEquals(1, port.path("epoch").asInt(), "the port's first epoch has ended");
            assertFalse(one.linkUp());
            assertEquals(
                    "up",
                    api.put("/nodes/node1/port", Map.of("admin", "up"))
                            .path("link")
                            .asText());
            assertTrue(one.linkUp());
        }
        String refused = assertThrows(
                        ApiClient.RefusedException.class,
                        () -> api.put("/nodes/node1/port", Map.of("admin", "sideways")))
                .getMessage();
        assertEquals("'admin' is up or down, not \"sideways\"", refused);
        assertThrows(ApiClient.RefusedException.class, () -> api.put("/nodes/node3/port", Map.of("admin", "up")));
    }

    @Test
    void aNodeShowsWhoIsConnected() throws Exception {
        assertFalse(api.get("/nodes/node1").path("agg").path("connected").asBoolean());
        try (RemoteNic _ = new RemoteNic(socket("node1.agg.sock"))) {
            JsonNode agg = api.get("/nodes").path("nodes").path(0).path("agg");
            assertTrue(agg.path("connected").asBoolean(), agg.toString());
            assertTrue(agg.path("bus_master").asBoolean());
            assertEquals(1, agg.path("windows").asInt());
            assertEquals(
                    ProcessHandle.current().pid(),
                    agg.path("client").path("pid").asLong());
            assertEquals("java", agg.path("client").path("name").asText());
            assertEquals(
                    Limits.MAX_DATA_XFER_SIZE,
                    agg.path("client")
                            .path("capabilities")
                            .path("max_data_xfer_size")
                            .asLong());
        }
        RemoteNic again = new RemoteNic(socket("node1.agg.sock"));
        again.close();
    }
}
