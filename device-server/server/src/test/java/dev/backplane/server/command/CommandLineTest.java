// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.Backplane;
import dev.backplane.server.api.Json;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.ServeOptions;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that look at a server: what they print, in words and as JSON, and what they say when it does not work. */
@Timeout(60)
class CommandLineTest {
    private record Run(int exit, String out, String err) {}

    @TempDir
    private Path temp;

    private DeviceServer server;

    @BeforeEach
    void start() throws Exception {
        server = DeviceServer.start(
                Topology.ofNodes(2), new ServeOptions(temp.resolve("run"), 1, false, false), ManagementRoutes::of);
    }

    @AfterEach
    void end() {
        server.close();
    }

    private Run run(String... arguments) {
        return runIn("run", arguments);
    }

    private Run runIn(String directory, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] all = Stream.concat(
                        Stream.of(arguments),
                        Stream.of("--run-dir", temp.resolve(directory).toString()))
                .toArray(String[]::new);
        int exit = Backplane.run(new PrintWriter(out, true), new PrintWriter(err, true), all);
        return new Run(exit, out.toString(), err.toString());
    }

    private Run ok(String... arguments) {
        Run run = run(arguments);
        assertEquals(0, run.exit, run.err);
        assertEquals("", run.err);
        return run;
    }

    @Test
    void nodesAreListed() {
        assertEquals("""
                NODE   ID  MAC                PARTITION  PORT  LINK  AGG      IMM
                node1   1  02:ba:5c:00:00:01  default    up    down  waiting  waiting
                node2   2  02:ba:5c:00:00:02  default    up    down  waiting  waiting
                """, ok("nodes").out);
    }

    @ParameterizedTest
    @ValueSource(strings = {"nodes", "counters", "macs", "memory", "rings", "config"})
    void everyAnswerCanBeHadAsJson(String command) throws Exception {
        JsonNode answer = Json.MAPPER.readTree(ok(command, "--json").out);
        assertTrue(answer.isObject() && !answer.isEmpty(), answer.toString());
        assertTrue(!ok(command).out.isEmpty());
    }

    @Test
    void portsGoDownAndUp() {
        assertEquals("node2: port down, link down\n", ok("port", "node2", "down").out);
        assertTrue(ok("nodes").out.contains("node2   2  02:ba:5c:00:00:02  default    down  down"));
        assertEquals("node2: port up, link down\n", ok("port", "node2", "UP").out);
    }

    @Test
    void qemuArgumentsFitAShellAndAList() {
        String socket = temp.resolve("run/node1.agg.sock").toString();
        List<String> lines = ok("qemu-args", "node1", "--memory", "1G", "--lines")
                .out
                .lines()
                .toList();
        assertEquals(List.of("-machine", "q35,memory-backend=m", "-m", "1G", "-object"), lines.subList(0, 5));
        assertEquals("memory-backend-memfd,id=m,size=1G,share=on", lines.get(5));
        assertEquals(
                "{\"driver\":\"vfio-user-pci\",\"id\":\"agg0\",\"socket\":{\"type\":\"unix\",\"path\":\"" + socket
                        + "\"}}",
                lines.get(7));
        assertEquals(10, lines.size());
        String shell = ok("qemu-args", "node1", "--msg-timeout", "60").out;
        assertTrue(shell.contains(" -device '{\"driver\":\"vfio-user-pci\",\"id\":\"imm0\","), shell);
        assertTrue(shell.contains("\"x-msg-timeout\":60000}'"), shell);
    }

    private Run probe(Path socket) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exit = Backplane.run(new PrintWriter(out, true), new PrintWriter(err, true), "probe", socket.toString());
        return new Run(exit, out.toString(), err.toString());
    }

    @Test
    void aDeviceCanBeProbedWithoutAVirtualMachine() throws Exception {
        Run agg = probe(temp.resolve("run/node1.agg.sock"));
        assertEquals(0, agg.exit, agg.err);
        assertTrue(agg.out.contains("ba5c:8672"), agg.out);
        Run imm = probe(temp.resolve("run/node1.imm.sock"));
        assertTrue(imm.out.contains("ba5c:2143"), imm.out);
        assertEquals("backplane: there is no socket " + temp.resolve("x") + "\n", probe(temp.resolve("x")).err);
        Run notASocket = probe(Files.writeString(temp.resolve("file"), ""));
        assertEquals(1, notASocket.exit);
        assertEquals(1, notASocket.err.lines().count(), notASocket.err);
    }

    @Test
    void threadsAreDumped() {
        assertTrue(ok("threads").out.contains("\"vfio-user node1.agg listen\""));
    }

    @Test
    void whatDoesNotWorkIsOneLineAndACode() {
        Run noNode = run("counters", "node9");
        assertEquals(1, noNode.exit);
        assertEquals("backplane: there is no node 'node9': 'backplane nodes' lists them\n", noNode.err);
        Run noServer = runIn("elsewhere", "nodes");
        assertEquals(1, noServer.exit);
        assertEquals(1, noServer.err.lines().count(), noServer.err);
        assertTrue(noServer.err.startsWith("backplane: no device server listens on " + temp.resolve("elsewhere")));
        Run usage = run("port", "node1", "sideways");
        assertEquals(2, usage.exit);
        assertEquals(1, usage.err.lines().count(), usage.err);
        assertEquals(2, run("nodes", "--colour").exit);
        assertEquals(2, run("serve", "--nodes", "2", "--topology", "x").exit);
        assertEquals(2, run("serve", "--nodes", "4097").exit);
        assertEquals(2, run("serve", "--workers", "0").exit);
    }
}
