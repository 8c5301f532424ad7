// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server as a process: how it starts, how it is refused, how it ends. */
@Timeout(120)
class LifecycleTest {
    @TempDir
    private Path temp;

    private ServerProcess serve(String... more) throws IOException {
        String[] arguments = Stream.concat(Stream.of("serve", "--run-dir", runDir().toString()), Stream.of(more))
                .toArray(String[]::new);
        return ServerProcess.start(temp.resolve("log"), arguments);
    }

    private Path runDir() {
        return temp.resolve("run");
    }

    private List<String> sockets() throws IOException {
        try (Stream<Path> files = Files.list(runDir())) {
            return files.map(f -> f.getFileName().toString())
                    .filter(f -> f.endsWith(".sock"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void aSignalEndsItCleanly(String signal) throws Exception {
        try (ServerProcess server = serve("--nodes", "2")) {
            JsonNode ready = server.ready();
            assertEquals("ready", ready.path("event").asText());
            assertEquals(server.pid(), ready.path("pid").asLong());
            assertEquals(runDir().toString(), ready.path("run_dir").asText());
            assertEquals("node2", ready.path("nodes").path(1).path("name").asText());
            assertEquals(
                    "02:ba:5c:00:00:02", ready.path("nodes").path(1).path("mac").asText());
            assertEquals(
                    List.of("backplane.sock", "node1.agg.sock", "node1.imm.sock", "node2.agg.sock", "node2.imm.sock"),
                    sockets());
            for (String name : sockets()) {
                assertEquals(
                        "rw-------",
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(runDir().resolve(name))),
                        name);
            }
            // With a client connected, too.
            try (VfioUserClient client = VfioUserClient.connect(
                    Path.of(ready.path("nodes").path(0).path("imm").asText()))) {
                assertTrue(client.regionCount() > 0);
                server.signal(signal);
                assertEquals(0, server.awaitExit(), server.log());
            }
            assertEquals("", server.restOfOutput(), "standard output has the ready line only");
            assertEquals(List.of(), sockets());
        }
    }

    @Test
    void whatAKilledServerLeftIsReplaced() throws Exception {
        try (ServerProcess server = serve("--nodes", "1")) {
            server.ready();
            server.signal("KILL");
            server.awaitExit();
        }
        assertEquals(3, sockets().size());
        try (ServerProcess server = serve("--nodes", "1")) {
            JsonNode ready = server.ready();
            try (VfioUserClient client = VfioUserClient.connect(
                    Path.of(ready.path("nodes").path(0).path("agg").asText()))) {
                assertTrue(client.regionCount() > 0);
            }
        }
    }

    @Test
    void aSecondServerIsRefusedAndDisturbsNothing() throws Exception {
        try (ServerProcess first = serve("--nodes", "1")) {
            JsonNode ready = first.ready();
            try (ServerProcess second =
                    ServerProcess.start(temp.resolve("log2"), "serve", "--run-dir", runDir().toString())) {
                assertEquals(2, second.awaitExit());
                assertEquals(1, second.log().lines().count(), second.log());
                assertTrue(second.log().contains("process id " + first.pid()), second.log());
            }
            try (VfioUserClient client = VfioUserClient.connect(
                    Path.of(ready.path("nodes").path(0).path("agg").asText()))) {
                assertTrue(client.regionCount() > 0);
            }
        }
    }

    @Test
    void aRunDirectoryThatIsTooDeepIsOneLine() throws Exception {
        Path deep = temp.resolve("d".repeat(120));
        try (ServerProcess server = ServerProcess.start(temp.resolve("log"), "serve", "--run-dir", deep.toString())) {
            assertEquals(2, server.awaitExit());
            String problem = server.log()
                    .lines()
                    .filter(l -> l.startsWith("backplane:"))
                    .findFirst()
                    .orElse("");
            assertTrue(problem.contains("socket path") && problem.contains("107"), server.log());
            assertFalse(server.log().contains("\tat "), server.log());
            assertEquals("", server.restOfOutput());
        }
    }

    @Test
    void aBadTopologyIsToldWithFileAndLine() throws Exception {
        Path file = Files.writeString(temp.resolve("t.yaml"), "nodes:\n  - name: a\n    port: {weight: 0}\n");
        try (ServerProcess server = serve("--topology", file.toString())) {
            assertEquals(2, server.awaitExit());
            assertTrue(server.log().contains(file + ":3: port.weight is the value '0'"), server.log());
            assertFalse(Files.exists(runDir()), "nothing was made");
        }
    }

    @Test
    void nodesOfATopologyGetTheirSockets() throws Exception {
        Path file = Files.writeString(temp.resolve("t.yaml"), "nodes: [{name: left, id: 7}, {name: right}]\n");
        try (ServerProcess server = serve("--topology", file.toString())) {
            JsonNode nodes = server.ready().path("nodes");
            assertEquals(7, nodes.path(0).path("id").asInt());
            assertTrue(nodes.path(1).path("agg").asText().endsWith("right.agg.sock"));
            assertTrue(server.log().contains("node: {name=left, id=7"), "the configuration is logged: " + server.log());
        }
    }
}
