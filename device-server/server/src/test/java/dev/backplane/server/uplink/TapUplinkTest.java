// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.devices.MacAddress;
import dev.backplane.server.api.ApiClient;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.run.ServerProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An uplink to a TAP interface, in a network namespace of the server's own: the host's network stays as it is. */
@Timeout(60)
class TapUplinkTest {
    private static final List<String> NAMESPACE = List.of("unshare", "--net");

    @TempDir
    private Path temp;

    private ServerProcess server;
    private ApiClient api;

    /** Runs a program; returns its exit code and output. */
    private static String run(int expected, List<String> command) throws Exception {
        Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(p.waitFor(20, TimeUnit.SECONDS), () -> command + " does not end");
        assertEquals(expected, p.exitValue(), () -> command + ": " + out);
        return out;
    }

    private String inNamespace(String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of("nsenter", "--net", "--target", Long.toString(server.pid())));
        all.addAll(List.of(command));
        return run(0, all);
    }

    private static boolean permitted() throws InterruptedException {
        try {
            Process p = new ProcessBuilder("unshare", "--net", "ip", "tuntap", "add", "dev", "bptest", "mode", "tap")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return p.waitFor(20, TimeUnit.SECONDS) && p.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @BeforeEach
    void start() throws Exception {
        assumeTrue(
                permitted(),
                "TAP interfaces cannot be made here: no /dev/net/tun, no iproute2, or not permitted (run as root)");
        Path file = temp.resolve("tap.yaml");
        Files.writeString(file, """
            nodes: [{name: node1}]
            uplinks: [{name: lan, tap: bp0, mtu: 1400}]
            """);
        server = ServerProcess.startBy(
                NAMESPACE,
                temp.resolve("log"),
                "serve",
                "--run-dir",
                temp.resolve("run").toString(),
                "--topology",
                file.toString());
        server.ready();
        api = new ApiClient(temp.resolve("run/backplane.sock"));
    }

    @AfterEach
    void end() {
        if (server != null) {
            server.close();
        }
    }

    private void awaitLink(String state) {
        RemoteNic.awaitTrue(
                "the link to be " + state,
                () -> state.equals(
                        api.get("/uplinks/lan").path("port").path("link").asText()));
    }

    /** The next frame of this type. */
    private static byte[] receive(RemoteNic nic, int etherType) throws IOException {
        while (true) {
            byte[] frame = nic.receive();
            if ((ByteBuffer.wrap(frame).getShort(12) & 0xffff) == etherType) {
                return frame;
            }
        }
    }

    private static int onesSum(byte[] data, int from, int to, int start) {
        long sum = start;
        for (int i = from; i < to; i++) {
            sum += (long) (data[i] & 0xff) << ((i - from) % 2 == 0 ? 8 : 0);
        }
        while (sum >>> 16 != 0) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return (int) sum;
    }

    @Test
    void hostAndNodeExchangeFramesAndTheHostsPartialChecksumsAreCompleted() throws Exception {
        awaitLink("up");
        inNamespace("ip", "address", "add", "10.99.0.1/24", "dev", "bp0");
        String shown = inNamespace("ip", "link", "show", "bp0");
        assertTrue(shown.contains("mtu 1400"), shown);
        try (RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"))) {
            // Node to host: a question for the host's address, which its stack answers.
            ByteBuffer arp = ByteBuffer.allocate(42);
            arp.put(new byte[] {-1, -1, -1, -1, -1, -1}).put(mac()).putShort((short) 0x0806);
            arp.putShort((short) 1)
                    .putShort((short) 0x0800)
                    .putShort((short) 0x0604)
                    .putShort((short) 1);
            arp.put(mac()).put(new byte[] {10, 99, 0, 2}).put(new byte[6]).put(new byte[] {10, 99, 0, 1});
            assertEquals(0, nic.send(arp.array()));
            byte[] answer = receive(nic, 0x0806);
            assertArrayEquals(new byte[] {10, 99, 0, 1}, Arrays.copyOfRange(answer, 28, 32));
            assertEquals(2, ByteBuffer.wrap(answer).getShort(20), "an ARP reply");
            // Host to node: the host leaves the checksum to the interface; the node's driver has not asked for such
            // frames.
            inNamespace("bash", "-c", "echo -n 'from the host' >/dev/udp/10.99.0.2/4711");
            byte[] udp = receive(nic, 0x0800);
            assertEquals(14 + 20 + 8 + 13, udp.length);
            assertArrayEquals(
                    "from the host".getBytes(StandardCharsets.US_ASCII), Arrays.copyOfRange(udp, 42, udp.length));
            int pseudo = onesSum(udp, 26, 34, 17 + udp.length - 34);
            assertEquals(0xffff, onesSum(udp, 34, udp.length, pseudo), "checksum over pseudo header and datagram");
        }
        JsonNode counters = api.get("/uplinks/lan/counters");
        assertTrue(
                counters.path("rx_frames").asLong() >= 1
                        && counters.path("tx_frames").asLong() >= 2,
                counters.toString());
        assertEquals(0, counters.path("tap").path("bad_headers").asLong(), counters.toString());
    }

    private static byte[] mac() {
        byte[] mac = new byte[6];
        for (int i = 0; i < 6; i++) {
            mac[i] = (byte) MacAddress.ofNode(1).octet(i);
        }
        return mac;
    }

    @Test
    void eachSideSeesWhetherTheOtherIsUp() throws Exception {
        awaitLink("up");
        inNamespace("ip", "link", "set", "bp0", "down");
        awaitLink("down");
        inNamespace("ip", "link", "set", "bp0", "up");
        awaitLink("up");
        assertTrue(inNamespace("ip", "link", "show", "bp0").contains("LOWER_UP"));
        api.put("/uplinks/lan/port", Map.of("admin", "down"));
        RemoteNic.awaitTrue("no carrier", () -> {
            try {
                return inNamespace("ip", "link", "show", "bp0").contains("NO-CARRIER");
            } catch (Exception e) {
                throw new IOException(e);
            }
        });
        api.put("/uplinks/lan/port", Map.of("admin", "up"));
        awaitLink("up");
    }

    @Test
    void aSignalEndsTheServerInOrder() throws Exception {
        awaitLink("up");
        server.signal("TERM");
        assertEquals(0, server.awaitExit(), server.log());
    }

    @Test
    void anInterfaceThatCannotBeHadIsToldInOneLine() throws Exception {
        Path file = temp.resolve("bad.yaml");
        Files.writeString(file, """
            nodes: [{name: node1}]
            uplinks: [{name: lan, tap: lo}]
            """);
        try (ServerProcess other = ServerProcess.startBy(
                NAMESPACE,
                temp.resolve("log2"),
                "serve",
                "--run-dir",
                temp.resolve("other").toString(),
                "--topology",
                file.toString())) {
            assertEquals(2, other.awaitExit());
            assertTrue(
                    other.log()
                            .lines()
                            .anyMatch(l -> l.startsWith("backplane: uplink lan: cannot open the TAP interface lo: ")),
                    other.log());
        }
    }
}
