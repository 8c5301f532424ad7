// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.Backplane;
import dev.backplane.server.api.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@code backplane} as a process of its own. */
public final class ServerProcess implements AutoCloseable {
    private static final int LIMIT_SECONDS = 40;

    private final Process process;
    private final Path log;
    private final BufferedReader output;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.output = process.inputReader();
    }

    /** Starts the program with these arguments; its log goes to {@code log}. */
    public static ServerProcess start(Path log, String... arguments) throws IOException {
        return start(log, "-Xmx256m", arguments);
    }

    /** As {@link #start(Path, String...)}, with an option for Java that limits its heap. */
    public static ServerProcess start(Path log, String heap, String[] arguments) throws IOException {
        return start(List.of(), log, heap, arguments);
    }

    /** Starts the program by way of another, such as {@code unshare --net}, which becomes it. */
    public static ServerProcess startBy(List<String> wrapper, Path log, String... arguments) throws IOException {
        return start(wrapper, log, "-Xmx256m", arguments);
    }

    private static ServerProcess start(List<String> wrapper, Path log, String heap, String[] arguments)
            throws IOException {
        List<String> command = new ArrayList<>(wrapper);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                heap,
                "-cp",
                System.getProperty("java.class.path"),
                Backplane.class.getName()));
        command.addAll(List.of(arguments));
        return new ServerProcess(
                new ProcessBuilder(command).redirectError(log.toFile()).start(), log);
    }

    /** Waits for the ready line. */
    public JsonNode ready() throws IOException {
        String line = output.readLine();
        if (line == null) {
            throw new AssertionError("the server ended before it was ready: " + log());
        }
        return Json.MAPPER.readTree(line);
    }

    /** What is left of standard output, once the program has ended. */
    public String restOfOutput() throws IOException {
        StringBuilder rest = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            rest.append(line).append('\n');
        }
        return rest.toString();
    }

    public long pid() {
        return process.pid();
    }

    /** Standard error so far. */
    public String log() throws IOException {
        return Files.readString(log);
    }

    /** Sends a signal, by its name without SIG. */
    public void signal(String name) throws IOException, InterruptedException {
        // The shell's own: the program of that name is in a package that a bare machine lacks.
        Process kill = new ProcessBuilder("bash", "-c", "kill -" + name + " " + process.pid()).start();
        if (kill.waitFor() != 0) {
            throw new AssertionError("kill -" + name + " failed");
        }
    }

    /** Waits for the end and returns the exit code. */
    public int awaitExit() throws IOException, InterruptedException {
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the program did not end in time: " + log());
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
