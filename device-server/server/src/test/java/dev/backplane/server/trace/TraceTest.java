// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.server.api.ApiClient;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.ServeOptions;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Watching the messages of a node through the management interface while a client uses its device. */
@Timeout(60)
class TraceTest {
    @TempDir
    private Path temp;

    private DeviceServer server;
    private ApiClient api;

    @BeforeEach
    void start() throws Exception {
        server = DeviceServer.start(
                Topology.ofNodes(1), new ServeOptions(temp.resolve("run"), 1, false, false), ManagementRoutes::of);
        api = new ApiClient(temp.resolve("run/backplane.sock"));
    }

    @AfterEach
    void end() {
        server.close();
    }

    /** A trace that is running: its lines, until it is closed. */
    private final class Watch implements AutoCloseable {
        private final PipedInputStream pipe = new PipedInputStream(1 << 20);
        private final BufferedReader lines = new BufferedReader(new InputStreamReader(pipe, StandardCharsets.UTF_8));
        private final List<String> seen = new ArrayList<>();
        private final Thread thread;

        Watch(String query) throws Exception {
            PipedOutputStream out = new PipedOutputStream(pipe);
            thread = Thread.ofPlatform().start(() -> {
                try (out) {
                    api.stream("/nodes/node1/trace" + query, out);
                } catch (IOException e) {
                    // The reader has gone, or the server has: what the test looks at it has by then.
                }
            });
        }

        /** Reads on until a line matches. */
        String await(String regex) throws IOException {
            Pattern pattern = Pattern.compile(regex);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                seen.add(line);
                if (pattern.matcher(line).find()) {
                    return line;
                }
            }
            return fail("no line matches " + regex + ": " + seen);
        }

        @Override
        public void close() throws IOException {
            pipe.close();
        }

        void join() throws InterruptedException {
            thread.join();
        }
    }

    private long traced() throws IOException {
        return api.get("/counters").path("trace").path("messages").asLong();
    }

    @Test
    void everyMessageIsALineThatCanBeRead() throws Exception {
        try (Watch watch = new Watch("?device=agg")) {
            watch.await("# watching node1.agg$");
            RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"));
            watch.await("node1.agg \\* client connected");
            watch.await("> VERSION id=\\d+ 0\\.1 \\{\"capabilities\"");
            watch.await("< VERSION reply id=\\d+ 0\\.1 \\{\"capabilities\"");
            watch.await("> DMA_MAP id=\\d+ address=0x100000000 size=0x100000 offset=0x0 flags=0x3 fds=1");
            watch.await("> REGION_WRITE id=\\d+ config\\+0x4 count=2 value=0x6");
            watch.await("> REGION_WRITE id=\\d+ BAR0\\+0x" + Integer.toHexString(AggRegisters.CONTROL)
                    + " count=4 value=0x1$");
            nic.client().read(0, AggRegisters.MAGIC, 4);
            watch.await("> REGION_READ id=\\d+ BAR0\\+0x0 count=4$");
            watch.await("< REGION_READ reply id=\\d+ BAR0\\+0x0 count=4 value=0x47474142");
            nic.close();
            String gone = watch.await("client gone");
            assertTrue(gone.matches("\\d\\d:\\d\\d:\\d\\d\\.\\d{6} node1\\.agg \\* client gone"), gone);
        }
    }

    @Test
    void nothingIsTracedOnceNobodyWatches() throws Exception {
        Watch watch = new Watch("");
        watch.await("# watching node1.agg, node1.imm$");
        RemoteNic nic = new RemoteNic(temp.resolve("run/node1.agg.sock"));
        watch.await("> VERSION");
        watch.close();
        // The next message finds that the reader has gone; from then on there is no watcher.
        long before = -1;
        while (traced() != before) {
            before = traced();
            nic.client().read(0, AggRegisters.MAGIC, 4);
        }
        watch.join();
        nic.client().read(0, AggRegisters.MAGIC, 4);
        assertEquals(before, traced());
        nic.close();
    }

    @Test
    void aMessageThatIsCutOffShowsWhatIsThere() {
        for (int command = 0; command < 20; command++) {
            for (int size = 16; size < 64; size++) {
                byte[] bytes = new byte[size];
                bytes[2] = (byte) command;
                bytes[4] = (byte) size;
                String line = new String(
                        new TextFormat(List.of("n"))
                                .message(new TracedMessage("node1.agg", 0, true, 0, bytes, size + 1), 7),
                        StandardCharsets.UTF_8);
                assertEquals(2, line.lines().count(), line);
                assertTrue(line.contains("node1.agg ! 7 messages left out"), line);
            }
        }
    }

    @Test
    void controlCharactersOfAPeerDoNotReachTheTerminal() {
        byte[] bytes = "0123456789abcdef....{\"\u001b[2J\u0007\"}\0".getBytes(StandardCharsets.UTF_8);
        bytes[2] = 1;
        bytes[3] = 0;
        bytes[8] = 0;
        String line = new String(
                new TextFormat(List.of("n")).message(new TracedMessage("n", 0, true, 0, bytes, bytes.length), 0),
                StandardCharsets.UTF_8);
        assertTrue(line.strip().chars().noneMatch(Character::isISOControl), line);
    }
}
