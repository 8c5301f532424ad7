// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A Backplane device server that runs as a child process of the test. */
public final class DeviceServer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(15);
    private static final int TAIL_LINES = 60;

    private final Process process;
    private final Path log;
    private final JsonNode ready;
    private final ManagementApi api;
    private volatile boolean killed;

    private DeviceServer(Process process, Path log, JsonNode ready) {
        this.process = process;
        this.log = log;
        this.ready = ready;
        this.api = new ManagementApi(Path.of(ready.path("api").asText()));
    }

    /** Starts {@code backplane serve} by itself. */
    public static DeviceServer start(Path runDir, List<String> arguments) {
        return start(List.of(), runDir, arguments);
    }

    /**
     * Starts {@code backplane serve} and waits for its ready line.
     *
     * @param launcher a program, with arguments, that becomes the command that follows them, {@code unshare --net} for
     *     instance; empty for none
     * @param runDir folder for its sockets
     * @param arguments of {@code serve}, beside the folder
     */
    public static DeviceServer start(List<String> launcher, Path runDir, List<String> arguments) {
        List<String> command = new ArrayList<>(launcher);
        command.add(Project.root().resolve("device-server/bin/backplane").toString());
        command.addAll(List.of("serve", "--run-dir", runDir.toString()));
        command.addAll(arguments);
        Path log = runDir.resolveSibling(runDir.getFileName() + ".log");
        try {
            Process p = new ProcessBuilder(command).redirectError(log.toFile()).start();
            CompletableFuture<JsonNode> ready = new CompletableFuture<>();
            Thread.ofPlatform().name("server output").daemon(true).start(() -> read(p, ready));
            try {
                return new DeviceServer(p, log, ready.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS));
            } catch (ExecutionException | TimeoutException e) {
                p.destroyForcibly();
                throw new GuestFailure("the device server did not start: " + tail(log), e);
            } catch (InterruptedException e) {
                p.destroyForcibly();
                Thread.currentThread().interrupt();
                throw new GuestFailure("interrupted while the device server started", e);
            }
        } catch (IOException e) {
            throw new GuestFailure("cannot run " + String.join(" ", command), e);
        }
    }

    private static void read(Process p, CompletableFuture<JsonNode> ready) {
        try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (line.startsWith("{")) {
                    JsonNode event = JSON.readTree(line);
                    if (event.path("event").asText().equals("ready")) {
                        ready.complete(event);
                    }
                }
            }
            ready.completeExceptionally(new IOException("it ended"));
        } catch (IOException e) {
            ready.completeExceptionally(e);
        }
    }

    /** QEMU's arguments for the two devices of a node. */
    public List<String> devices(String node) {
        for (JsonNode n : ready.path("nodes")) {
            if (n.path("name").asText().equals(node)) {
                return List.of(
                        "-device", device("agg0", n.path("agg").asText()),
                        "-device", device("imm0", n.path("imm").asText()));
            }
        }
        throw new IllegalArgumentException("the server has no node " + node + ": " + ready);
    }

    private static String device(String id, String socket) {
        return JSON.createObjectNode()
                .put("driver", "vfio-user-pci")
                .put("id", id)
                .set("socket", JSON.createObjectNode().put("type", "unix").put("path", socket))
                .toString();
    }

    /** The management API. */
    public ManagementApi api() {
        return api;
    }

    /** Process id, to look at it from outside. */
    public long pid() {
        return process.pid();
    }

    public boolean alive() {
        return process.isAlive();
    }

    /** Whether a test has killed it. */
    public boolean killed() {
        return killed;
    }

    /** Ends the server as SIGKILL does. */
    public void kill() {
        killed = true;
        process.destroyForcibly();
        try {
            process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Log, counters and threads, as far as they can be had, for a report. */
    public String report() {
        StringBuilder out = new StringBuilder("--- device server, pid " + pid() + "\n" + tail(log));
        if (process.isAlive()) {
            for (String resource : List.of("/counters", "/threads")) {
                out.append("\n--- ").append(resource).append('\n');
                try {
                    out.append(api.text(resource));
                } catch (GuestFailure e) {
                    out.append(e.getMessage());
                }
            }
        } else {
            out.append("\nit has ended with exit code ").append(process.exitValue());
        }
        return out.toString();
    }

    private static String tail(Path log) {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
            return "  | " + String.join("\n  | ", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return "  (no log: " + e.getMessage() + ")";
        }
    }

    /** Ends the server with SIGTERM; it has to obey in time and without an error. */
    @Override
    public void close() {
        api.close();
        boolean running = process.isAlive();
        process.destroy();
        try {
            if (!process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new GuestFailure("the device server ignores SIGTERM\n" + tail(log));
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        if (running && !killed && !process.isAlive() && process.exitValue() != 0 && process.exitValue() != 143) {
            throw new GuestFailure("the device server ended with " + process.exitValue() + "\n" + tail(log));
        }
    }
}
