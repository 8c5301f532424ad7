// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program that runs beside the guests, such as a switch. It ends with this process: it gets a standard input that is
 * open as long as this object is.
 */
final class Helper implements AutoCloseable {
    private static final int READY_SECONDS = 60;

    private final Process process;
    private final Path log;

    private Helper(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Starts a shell script, which prints {@code ready} when others may use what it makes.
     *
     * @throws IOException with what it said last, when it ends or takes too long
     */
    static Helper start(Path log, String script, List<String> arguments) throws IOException {
        List<String> command = new java.util.ArrayList<>(List.of("sh", "-euc", script, "sh"));
        command.addAll(arguments);
        Process p = new ProcessBuilder(command).redirectError(log.toFile()).start();
        Helper helper = new Helper(p, log);
        CompletableFuture<Boolean> ready = new CompletableFuture<>();
        Thread.ofPlatform().name("helper").daemon(true).start(() -> {
            try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
                for (String line = out.readLine(); line != null; line = out.readLine()) {
                    if (line.equals("ready")) {
                        ready.complete(true);
                    }
                }
                ready.complete(false);
            } catch (IOException e) {
                ready.completeExceptionally(e);
            }
        });
        try {
            if (ready.get(READY_SECONDS, TimeUnit.SECONDS)) {
                return helper;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            helper.close();
            throw new IOException("it is not ready after " + READY_SECONDS + " s: " + helper.lastWords(), e);
        }
        helper.close();
        throw new IOException(helper.lastWords());
    }

    long pid() {
        return process.pid();
    }

    private String lastWords() {
        try {
            List<String> lines = Files.readAllLines(log);
            return lines.isEmpty() ? "it ended without a word" : lines.getLast().strip();
        } catch (IOException e) {
            return "no log: " + e.getMessage();
        }
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
