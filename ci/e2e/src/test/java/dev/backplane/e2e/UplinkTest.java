// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Guests reach what is not a guest of this server: the host's loopback interface through passt, and another QEMU's card. */
@Timeout(180)
class UplinkTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String GATEWAY = "10.77.0.254";
    private static final int PAGE_BYTES = 1_000_000;

    @RegisterExtension
    @Order(1)
    static final ScratchFolder FOLDER = new ScratchFolder();

    /** Node 3 has, besides its vNIC in a partition of its own, a virtio-net card whose other end is the uplink. */
    @RegisterExtension
    @Order(2)
    static final Cluster CLUSTER = Cluster.of(3)
            .withServerArguments("--topology", topology().toString())
            .withDevices(id -> id != 3
                    ? List.of()
                    : List.of(
                            "-netdev",
                            "stream,id=card,server=off,addr.type=unix,addr.path=" + file("card.sock"),
                            "-device",
                            "virtio-net-pci,netdev=card,mac=52:54:00:00:00:03"));

    private static Path file(String name) {
        return FOLDER.path().resolve(name);
    }

    private static Path topology() {
        return FOLDER.write("uplinks.yaml", """
                nodes:
                  - {name: node1}
                  - {name: node2}
                  - {name: node3, partition: elsewhere}
                uplinks:
                  - {name: outside, connect: %1$s, gateway: %2$s, reconnect: 200ms}
                  - {name: card, listen: %3$s}
                """.formatted(file("passt.sock"), GATEWAY, file("card.sock")));
    }

    private static JsonNode counters(String uplink) {
        return CLUSTER.server().api().get("/uplinks/" + uplink + "/counters");
    }

    @Test
    void guestsFetchAPageFromTheHostsLoopbackThroughPasst() throws Exception {
        String passt = System.getenv("BACKPLANE_PASST");
        assumeTrue(passt != null, "no passt: BACKPLANE_PASST is not set (images/provide passt says why)");
        byte[] page = new byte[PAGE_BYTES];
        new Random(1).nextBytes(page);
        HttpServer web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        web.createContext("/page", exchange -> {
            exchange.sendResponseHeaders(200, page.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(page);
            }
        });
        web.start();
        Process way = new ProcessBuilder(
                        passt,
                        "--foreground",
                        "--quiet",
                        "--ipv4-only",
                        "--socket",
                        file("passt.sock").toString(),
                        "--address",
                        "10.77.0.253",
                        "--netmask",
                        "24",
                        "--gateway",
                        GATEWAY,
                        "--map-host-loopback",
                        GATEWAY,
                        "--no-dhcp",
                        "--tcp-ports",
                        "none",
                        "--udp-ports",
                        "none")
                .redirectErrorStream(true)
                .redirectOutput(file("passt.log").toFile())
                .start();
        try {
            String url = "http://" + GATEWAY + ":" + web.getAddress().getPort() + "/page";
            // Until passt listens and the uplink has connected; then both at the same time, some times over.
            String fetch = "until wget -q -T 5 -O /tmp/page " + url + " 2>/tmp/wget; do sleep 0.1; done;"
                    + " for i in 1 2 3; do wget -q -T 20 -O /tmp/page " + url
                    + " || exit 1; done; sha256sum < /tmp/page";
            Execution one = CLUSTER.node(1).start(fetch);
            Execution two = CLUSTER.node(2).start(fetch);
            String sum = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(page));
            for (Execution e : List.of(one, two)) {
                assertEquals(sum + "  -", e.await(LONG).ok().out().strip(), () -> counters("outside") + "\n" + log());
            }
            assertTrue(
                    counters("outside").path("tx_bytes").asLong() > 6L * PAGE_BYTES,
                    counters("outside").toString());
            // What is between guests stays between them: passt would answer for every address.
            CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 5 " + Cluster.address(2)).ok();
            assertTrue(
                    counters("outside").path("rx_dropped_filtered").asLong() > 0,
                    counters("outside").toString());
        } finally {
            way.destroy();
            assertTrue(way.waitFor(20, TimeUnit.SECONDS), "passt does not end");
            web.stop(0);
        }
    }

    private static String log() {
        try {
            return Files.readString(file("passt.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void aCardOfAnotherQemuIsANeighbour() {
        Guest card = CLUSTER.node(3);
        card.exec("modprobe virtio_net").ok();
        String name = card.exec("ip -o link | sed -n 's/^[0-9]*: \\([^:]*\\):.*52:54:00:00:00:03.*/\\1/p'")
                .ok()
                .out()
                .strip();
        assertTrue(!name.isEmpty(), () -> card.exec("ip link").out());
        card.exec("ip address replace 10.78.0.3/24 dev " + name + "; ip link set " + name + " up")
                .ok();
        Guest node = CLUSTER.node(1);
        node.exec("ip address replace 10.78.0.1/24 dev " + Guests.netdev(node)).ok();
        node.exec("ping -c 1 -W 20 10.78.0.3 && ping -c 10 -i 0.1 -W 5 10.78.0.3 | grep ' 0% packet loss'", LONG)
                .ok();
        // TCP from node1 leaves its guest unsegmented, without checksum: the card wants finished packets.
        Execution server = card.start("iperf3 -s -1 --forceflush");
        server.awaitOutput("listening", LONG);
        node.exec("iperf3 -c 10.78.0.3 -n 8M", LONG).ok();
        server.await(LONG).ok();
        server = card.start("iperf3 -s -1 --forceflush");
        server.awaitOutput("listening", LONG);
        node.exec("iperf3 -c 10.78.0.3 -R -n 8M", LONG).ok();
        server.await(LONG).ok();
        assertTrue(
                counters("card").path("rx_segmented").asLong() > 0,
                counters("card").toString());
    }
}
