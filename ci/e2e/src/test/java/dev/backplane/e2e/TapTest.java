// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A guest and a host's kernel on two ends of a TAP uplink: streams in bulk, segmented by neither side. The server has a
 * network namespace of its own, so that the host's network stays as it is.
 */
@EnabledIf(value = "permitted", disabledReason = "TAP interfaces cannot be made here: not root, or no /dev/net/tun")
@Timeout(300)
class TapTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final String INTERFACE = "bp0";
    private static final String GUEST = Cluster.address(1);
    private static final String HOST = "10.77.0.254";
    private static final int BYTES = 32 << 20;

    @RegisterExtension
    @Order(1)
    static final ScratchFolder FOLDER = new ScratchFolder();

    @RegisterExtension
    @Order(2)
    static final Cluster CLUSTER = Cluster.of(1)
            .withServerLauncher("unshare", "--net")
            .withServerArguments(
                    "--topology",
                    FOLDER.write("tap.yaml", """
                    nodes: [{name: node1}]
                    uplinks: [{name: lan, tap: %s}]
                    """.formatted(INTERFACE)).toString());

    static boolean permitted() throws InterruptedException {
        try {
            Process p = new ProcessBuilder("unshare", "--net", "ip", "tuntap", "add", "dev", INTERFACE, "mode", "tap")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return p.waitFor(20, TimeUnit.SECONDS) && p.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @BeforeAll
    static void setAddress() throws Exception {
        onHost("ip address add " + HOST + "/24 dev " + INTERFACE);
    }

    @Test
    void hostSendsToTheGuestInBulk() throws Exception {
        Execution receiver = Tcp.receive(CLUSTER.node(1), "| sha256sum");
        JsonNode before = counters();
        // What was sent, and its sum.
        String sent = onHost("head -c " + BYTES + " /dev/urandom | tee >(sha256sum >&2) > /dev/tcp/" + GUEST + "/5555");
        assertEquals(sent, receiver.await(LONG).ok().out().strip());
        assertUnsegmented("tx", before);
    }

    @Test
    void guestSendsToTheHostInBulk() throws Exception {
        Guest g = CLUSTER.node(1);
        String sent = g.exec("head -c " + BYTES + " /dev/urandom > /tmp/sent; sha256sum < /tmp/sent", LONG)
                .ok()
                .out()
                .strip();
        // In large writes: nc's own, of a kilobyte, leave nothing to segment where acknowledgements come at once.
        Execution sender = Tcp.listening(g, "exec nc -l -p 5555 -e sh -c 'exec dd if=/tmp/sent bs=256k 2> /dev/null'");
        JsonNode before = counters();
        assertEquals(sent, onHost("sha256sum < /dev/tcp/" + GUEST + "/5555"));
        sender.await(LONG).ok();
        assertUnsegmented("rx", before);
    }

    private static JsonNode counters() {
        return CLUSTER.server().api().get("/uplinks/lan/counters");
    }

    /** Frames that the far side sent (tx) or got (rx) were longer than the interface's MTU on average. */
    private static void assertUnsegmented(String direction, JsonNode before) {
        JsonNode after = counters();
        long frames = after.path(direction + "_frames").asLong()
                - before.path(direction + "_frames").asLong();
        long bytes = after.path(direction + "_bytes").asLong()
                - before.path(direction + "_bytes").asLong();
        assertTrue(bytes > BYTES && bytes > 2L * 1514 * frames, bytes + " bytes in " + frames + " frames");
    }

    /** Runs a script of bash in the server's network namespace; returns its output. */
    private static String onHost(String script) throws Exception {
        String namespace = "--net=/proc/" + CLUSTER.server().pid() + "/ns/net";
        Process p = new ProcessBuilder("nsenter", namespace, "bash", "-euc", script)
                .redirectErrorStream(true)
                .start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(p.waitFor(LONG.toSeconds(), TimeUnit.SECONDS), "it does not end");
        assertEquals(0, p.exitValue(), out);
        return out.strip();
    }
}
