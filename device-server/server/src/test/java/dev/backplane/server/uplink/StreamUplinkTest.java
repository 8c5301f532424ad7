// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.imm.MessagingConfig;
import dev.backplane.server.api.ApiClient;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.ServeOptions;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.topology.UplinkSettings;
import dev.backplane.server.view.ManagementRoutes;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uplinks over a Unix socket, of whole servers: two back to back, and peers that behave and that do not. */
@Timeout(60)
class StreamUplinkTest {
    private static final MacAddress OUTSIDE = new MacAddress(0x0200_0000_00aaL);

    @TempDir
    private Path temp;

    private final List<DeviceServer> servers = new ArrayList<>();

    @AfterEach
    void end() {
        servers.forEach(DeviceServer::close);
    }

    /** Starts a server in the folder {@code name} with one node of that id and one uplink. */
    private ApiClient serve(String name, int node, String connect, String listen) throws Exception {
        UplinkSettings uplink =
                new UplinkSettings("out", Node.DEFAULT_PARTITION, connect, listen, null, null, 1500, 50);
        Topology topology = new Topology(
                FabricConfig.defaults(),
                MessagingConfig.defaults(),
                List.of(new Topology.NodeSpec(Node.of(node), PortConfig.defaults())),
                List.of(new Topology.UplinkSpec(uplink, PortConfig.defaults())));
        Path run = temp.resolve(name);
        servers.add(DeviceServer.start(topology, new ServeOptions(run, 1, false, false), ManagementRoutes::of));
        return new ApiClient(run.resolve("backplane.sock"));
    }

    private static byte[] frame(MacAddress to, MacAddress from, int length, long seed) {
        byte[] frame = new byte[length];
        new Random(seed).nextBytes(frame);
        ByteBuffer b = ByteBuffer.wrap(frame);
        for (MacAddress mac : new MacAddress[] {to, from}) {
            for (int i = 0; i < 6; i++) {
                b.put((byte) mac.octet(i));
            }
        }
        b.putShort((short) 0x88b5);
        return frame;
    }

    private static void awaitLink(ApiClient api, String state) throws IOException {
        RemoteNic.awaitTrue(
                "the uplink to be " + state,
                () -> state.equals(
                        api.get("/uplinks/out").path("port").path("link").asText()));
    }

    private static void awaitConnection(ApiClient api, int number) throws IOException {
        RemoteNic.awaitTrue("connection " + number, () -> count(api, "stream", "connects") == number);
        awaitLink(api, "up");
    }

    private static long count(ApiClient api, String group, String name) throws IOException {
        JsonNode counters = api.get("/uplinks/out/counters");
        return (group == null ? counters : counters.path(group)).path(name).asLong(-1);
    }

    private static <T> FutureTask<T> meanwhile(Callable<T> what) {
        FutureTask<T> task = new FutureTask<>(what);
        Thread.ofPlatform().name("peer").daemon(true).start(task);
        return task;
    }

    @Test
    void framesCrossTwoServers() throws Exception {
        ApiClient left = serve("left", 1, null, "up.sock");
        ApiClient right = serve("right", 2, temp.resolve("left/up.sock").toString(), null);
        awaitLink(left, "up");
        awaitLink(right, "up");
        try (RemoteNic one = new RemoteNic(temp.resolve("left/node1.agg.sock"));
                RemoteNic two = new RemoteNic(temp.resolve("right/node2.agg.sock"))) {
            for (int i = 0; i < 40; i++) {
                byte[] there = frame(MacAddress.ofNode(2), MacAddress.ofNode(1), 60 + 30 * i, i);
                assertEquals(0, one.send(there));
                assertArrayEquals(there, two.receive());
                byte[] back = frame(MacAddress.BROADCAST, MacAddress.ofNode(2), 60 + i, i);
                assertEquals(0, two.send(back));
                assertArrayEquals(back, one.receive());
            }
        }
        assertEquals(40, count(left, null, "rx_frames"));
        assertEquals(40, count(left, null, "tx_frames"));
        JsonNode macs = left.get("/macs").path("macs");
        assertTrue(
                macs.toString().contains("\"02:ba:5c:00:00:02\"")
                        && macs.toString().contains("\"out\""),
                macs.toString());
        String metrics = left.text("/metrics");
        assertTrue(metrics.contains("backplane_uplink_rx_frames_total{uplink=\"out\"} 40.0"), metrics);
        assertTrue(metrics.contains("backplane_stream_connects_total{uplink=\"out\"} 1.0"), metrics);
        assertTrue(metrics.contains("backplane_uplink_link_up{uplink=\"out\"} 1.0"), metrics);
        servers.getFirst().close();
        assertFalse(Files.exists(temp.resolve("left/up.sock")));
        awaitLink(right, "down");
    }

    @Test
    void aFrameMayComeInAnyPiecesAndManyAtOnce() throws Exception {
        ApiClient api = serve("run", 1, null, "up.sock");
        try (RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"));
                StreamPeer peer = StreamPeer.connect(temp.resolve("run/up.sock"))) {
            byte[] slow = frame(MacAddress.ofNode(1), OUTSIDE, 100, 1);
            ByteBuffer pieces = StreamPeer.framed(slow);
            while (pieces.hasRemaining()) {
                peer.write(ByteBuffer.wrap(new byte[] {pieces.get()}));
            }
            assertArrayEquals(slow, nic.receive());
            int n = 600;
            FutureTask<Void> sending = meanwhile(() -> {
                ByteBuffer all = ByteBuffer.allocate(n * 1504);
                for (int i = 0; i < n; i++) {
                    all.put(StreamPeer.framed(frame(MacAddress.ofNode(1), OUTSIDE, 1500, i)));
                }
                peer.write(all.flip());
                return null;
            });
            for (int i = 0; i < n; i++) {
                assertArrayEquals(frame(MacAddress.ofNode(1), OUTSIDE, 1500, i), nic.receive(), "frame " + i);
            }
            sending.get();
            byte[] answer = frame(OUTSIDE, MacAddress.ofNode(1), 1400, 7);
            assertEquals(0, nic.send(answer));
            assertArrayEquals(answer, peer.receive());
            assertEquals(n + 1, count(api, null, "tx_frames"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 65_559, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void anImpossibleLengthEndsThatConnectionAlone(int length) throws Exception {
        ApiClient api = serve("run", 1, null, "up.sock");
        try (RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"))) {
            byte[] good = frame(MacAddress.ofNode(1), OUTSIDE, 60, 1);
            try (StreamPeer peer = StreamPeer.connect(temp.resolve("run/up.sock"))) {
                peer.send(good);
                assertArrayEquals(good, nic.receive());
                peer.write(ByteBuffer.allocate(8).putInt(length).putInt(0).flip());
                assertTrue(peer.awaitEnd());
            }
            awaitLink(api, "down");
            assertEquals(1, count(api, "stream", "bad_lengths"));
            try (StreamPeer peer = StreamPeer.connect(temp.resolve("run/up.sock"))) {
                peer.send(good);
                assertArrayEquals(good, nic.receive());
            }
        }
    }

    @Test
    void aConnectionThatEndsInsideAFrameLeavesNothingBehind() throws Exception {
        ApiClient api = serve("run", 1, null, "up.sock");
        try (RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"))) {
            byte[] good = frame(MacAddress.ofNode(1), OUTSIDE, 200, 1);
            for (int cut = 1; cut < 204; cut += 7) {
                try (StreamPeer peer = StreamPeer.connect(temp.resolve("run/up.sock"))) {
                    peer.write(StreamPeer.framed(good).limit(cut));
                }
                long ended = cut / 7 + 1L;
                RemoteNic.awaitTrue(
                        "the end of connection " + ended,
                        () -> count(api, "stream", "connects") == ended
                                && !"connected"
                                        .equals(api.get("/uplinks/out")
                                                .path("state")
                                                .asText()));
            }
            try (StreamPeer peer = StreamPeer.connect(temp.resolve("run/up.sock"))) {
                peer.send(good);
                assertArrayEquals(good, nic.receive());
            }
            assertEquals(1, count(api, null, "tx_frames"));
        }
    }

    @Test
    void aSecondClientIsRefusedAndTheFirstStays() throws Exception {
        ApiClient api = serve("run", 1, null, "up.sock");
        try (RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"));
                StreamPeer first = StreamPeer.connect(temp.resolve("run/up.sock"))) {
            awaitLink(api, "up");
            try (StreamPeer second = StreamPeer.connect(temp.resolve("run/up.sock"))) {
                assertTrue(second.awaitEnd());
            }
            assertEquals(1, count(api, "stream", "refused"));
            byte[] good = frame(MacAddress.ofNode(1), OUTSIDE, 60, 1);
            first.send(good);
            assertArrayEquals(good, nic.receive());
        }
    }

    @Test
    void aClientConnectsAnewAndThePortCanBeTakenDown() throws Exception {
        Path path = temp.resolve("peer.sock");
        ApiClient api = serve("run", 1, path.toString(), null);
        RemoteNic.awaitTrue("an attempt that fails", () -> count(api, "stream", "connect_failures") > 0);
        assertEquals("connecting", api.get("/uplinks/out").path("state").asText());
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"))) {
            listener.bind(UnixDomainSocketAddress.of(path));
            for (int i = 1; i <= 3; i++) {
                try (StreamPeer peer = new StreamPeer(listener.accept())) {
                    awaitConnection(api, i);
                    byte[] there = frame(MacAddress.BROADCAST, MacAddress.ofNode(1), 60, i);
                    assertEquals(0, nic.send(there));
                    assertArrayEquals(there, peer.receive());
                }
            }
            try (StreamPeer peer = new StreamPeer(listener.accept())) {
                awaitConnection(api, 4);
                JsonNode port = api.put("/uplinks/out/port", Map.of("admin", "down"));
                assertEquals("down", port.path("link").asText(), port.toString());
                assertEquals(0, nic.send(frame(MacAddress.BROADCAST, MacAddress.ofNode(1), 60, 8)));
                api.put("/uplinks/out/port", Map.of("admin", "up"));
                byte[] there = frame(MacAddress.BROADCAST, MacAddress.ofNode(1), 60, 9);
                assertEquals(0, nic.send(there));
                assertArrayEquals(there, peer.receive());
            }
        }
    }
}
