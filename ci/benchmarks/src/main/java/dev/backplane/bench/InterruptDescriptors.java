// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Which descriptors of a process are interrupts: event descriptors that another process holds, too. A QEMU has many more,
 * with which its own threads wake each other. The kernel numbers event descriptors in {@code /proc/PID/fdinfo}.
 */
final class InterruptDescriptors {
    private static final Pattern ID = Pattern.compile("(?m)^eventfd-id:\\s*(\\d+)$");

    private InterruptDescriptors() {}

    /** The descriptors of {@code pid} that {@code signaller} has, too. */
    static Set<Integer> of(long pid, long signaller) throws IOException {
        Set<String> shared = new HashSet<>(ids(signaller).values());
        Set<Integer> descriptors = new HashSet<>();
        ids(pid).forEach((descriptor, id) -> {
            if (shared.contains(id)) {
                descriptors.add(descriptor);
            }
        });
        return descriptors;
    }

    private static Map<Integer, String> ids(long pid) throws IOException {
        Map<Integer, String> ids = new HashMap<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fdinfo"))) {
            for (Path file : files.toList()) {
                Matcher m = ID.matcher(info(file));
                if (m.find()) {
                    ids.put(Integer.valueOf(file.getFileName().toString()), m.group(1));
                }
            }
        }
        return ids;
    }

    /** Nothing if the descriptor has been closed meanwhile. */
    private static String info(Path file) throws IOException {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
