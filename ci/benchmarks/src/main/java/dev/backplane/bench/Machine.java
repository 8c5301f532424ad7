// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;

/** What was measured on: everything that a figure depends on and a reader cannot see. */
record Machine(Map<String, String> facts) {
    static Machine here() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", LocalDate.now(java.time.ZoneId.systemDefault()).toString());
        facts.put("processor", value("/proc/cpuinfo", "model name"));
        facts.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("memory", value("/proc/meminfo", "MemTotal"));
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        facts.put("qemu", environment("BACKPLANE_QEMU_VERSION"));
        facts.put("guest kernel", environment("BACKPLANE_KERNEL_RELEASE"));
        facts.put("accelerator", environment("BACKPLANE_ACCEL"));
        return new Machine(facts);
    }

    private static String environment(String name) {
        return System.getenv().getOrDefault(name, "unknown");
    }

    private static String value(String file, String key) {
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .filter(l -> l.startsWith(key))
                    .map(l -> l.substring(l.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
