// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a guest boots from, and with what.
 *
 * @param qemu the program that runs QEMU
 * @param kernel kernel image
 * @param initrds initial RAM file systems, loaded one over the other
 * @param kernelArguments what its kernel's command line begins with
 * @param accelerator QEMU's accelerator, {@code kvm} or {@code tcg}
 */
public record GuestImage(Path qemu, Path kernel, List<Path> initrds, String kernelArguments, String accelerator) {
    private static final int PROVIDE_MINUTES = 30;

    public GuestImage {
        initrds = List.copyOf(initrds);
    }

    /**
     * The image that {@code BACKPLANE_QEMU}, {@code BACKPLANE_KERNEL}, {@code BACKPLANE_INITRD}, {@code
     * BACKPLANE_DRIVER_INITRD} and {@code BACKPLANE_ACCEL} name; where one is missing, {@code images/provide all} of the
     * project is asked, which may download and build for minutes the first time.
     */
    public static GuestImage fromEnvironment() {
        Map<String, String> values = new HashMap<>(System.getenv());
        if (!values.containsKey("BACKPLANE_QEMU")
                || !values.containsKey("BACKPLANE_KERNEL")
                || !values.containsKey("BACKPLANE_INITRD")
                || !values.containsKey("BACKPLANE_DRIVER_INITRD")) {
            values.putAll(provide("all"));
        }
        return of(values);
    }

    /**
     * The image with another kernel, for guests of different kernels side by side.
     *
     * @param release a name that {@code images/provide --release} knows: {@code bookworm}, {@code trixie}, {@code
     *     backports}
     */
    public static GuestImage ofRelease(String release) {
        return of(provide("all", "--release", release));
    }

    /**
     * The same with the kernel as its distribution ships it. It boots a second or so later than the unpacked one, and can
     * sleep to memory (S3): an unpacked one QEMU writes into the guest's memory again when it wakes the guest.
     */
    public GuestImage withCompressedKernel() {
        return new GuestImage(qemu, kernel.resolveSibling("vmlinuz"), initrds, kernelArguments, accelerator);
    }

    private static GuestImage of(Map<String, String> values) {
        List<Path> initrds = new ArrayList<>();
        initrds.add(existing(values, "BACKPLANE_INITRD"));
        if (values.containsKey("BACKPLANE_DRIVER_INITRD")) {
            initrds.add(existing(values, "BACKPLANE_DRIVER_INITRD"));
        }
        return new GuestImage(
                existing(values, "BACKPLANE_QEMU"),
                existing(values, "BACKPLANE_KERNEL"),
                initrds,
                values.getOrDefault("BACKPLANE_KERNEL_ARGS", "console=ttyS0 panic=-1"),
                values.getOrDefault("BACKPLANE_ACCEL", "tcg"));
    }

    private static Path existing(Map<String, String> values, String key) {
        String value = values.get(key);
        if (value == null || !Files.exists(Path.of(value))) {
            throw new IllegalStateException(
                    key + (value == null ? " is not set" : "=" + value + " is not there") + ": run images/provide all");
        }
        return Path.of(value);
    }

    private static Map<String, String> provide(String... arguments) {
        Path script = Project.root().resolve("images/provide");
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        try {
            Process p = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            Map<String, String> values = new HashMap<>();
            try (BufferedReader out = p.inputReader(StandardCharsets.UTF_8)) {
                for (String line = out.readLine(); line != null; line = out.readLine()) {
                    int eq = line.indexOf('=');
                    if (eq > 0) {
                        values.put(line.substring(0, eq), line.substring(eq + 1));
                    }
                }
            }
            if (!p.waitFor(PROVIDE_MINUTES, TimeUnit.MINUTES)) {
                p.destroy();
                throw new IllegalStateException(script + " did not end within " + PROVIDE_MINUTES + " minutes");
            }
            if (p.exitValue() != 0) {
                throw new IllegalStateException(String.join(" ", command) + " failed with exit code " + p.exitValue());
            }
            return values;
        } catch (IOException e) {
            throw new IllegalStateException("cannot run " + script, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + script, e);
        }
    }
}
