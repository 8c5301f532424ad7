// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs QEMU as a child process of the test. */
public final class LocalQemu implements GuestRunner {
    private static final int KILL_SECONDS = 20;

    @Override
    public Instance start(String name, GuestImage image, List<String> arguments, Path directory) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(image.qemu().toString());
        command.addAll(arguments);
        Path errors = directory.resolve("qemu.stderr");
        Process process = new ProcessBuilder(command)
                .redirectError(errors.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        return new Running(process, errors);
    }

    private record Running(Process process, Path errorFile) implements Instance {
        @Override
        public InputStream console() {
            return process.getInputStream();
        }

        @Override
        public String errors() {
            try {
                return Files.readString(errorFile).strip();
            } catch (IOException e) {
                return "";
            }
        }

        @Override
        public long pid() {
            return process.pid();
        }

        @Override
        public boolean alive() {
            return process.isAlive();
        }

        @Override
        public void kill() {
            process.destroyForcibly();
            try {
                if (!process.waitFor(KILL_SECONDS, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("QEMU, pid " + process.pid() + ", survives SIGKILL");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void onExit(Runnable action) {
            process.onExit().thenRun(action);
        }
    }
}
