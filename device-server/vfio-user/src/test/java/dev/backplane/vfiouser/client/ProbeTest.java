// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.conformance.ScratchSystem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The probe against a golden text, and against what lspci makes of the same bytes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class ProbeTest {
    @TempDir
    private Path directory;

    @Test
    void theDescriptionIsGolden() throws IOException {
        assertEquals(golden(), describe());
    }

    @Test
    void probingChangesNothing() throws IOException {
        try (ScratchSystem system = new ScratchSystem();
                VfioUserClient client = VfioUserClient.connect(system.socket())) {
            String first = Probe.describe(client);
            assertEquals(first, Probe.describe(client));
        }
    }

    @Test
    void lspciReadsItAndAgrees() throws Exception {
        Path lspci = Stream.of("/usr/bin/lspci", "/usr/sbin/lspci", "/sbin/lspci")
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        assumeTrue(lspci != null, "no lspci here: install pciutils");
        String ours = describe();
        Path file = Files.writeString(directory.resolve("probe.txt"), ours);
        Process process = new ProcessBuilder(lspci.toString(), "-F", file.toString(), "-vvv", "-n")
                .redirectErrorStream(true)
                .start();
        String theirs = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), theirs);
        assertTrue(theirs.contains("1b36:5c4a (rev 01)"), theirs);
        assertTrue(theirs.contains("Subsystem: 1af4:1100"), theirs);
        List<String> shared = ours.lines()
                .filter(l -> l.contains("Capabilities:") || l.contains("BAR=") || l.contains("Control:"))
                .map(String::strip)
                .toList();
        assertTrue(shared.size() >= 6, () -> "lines to compare: " + shared);
        for (String line : shared) {
            assertTrue(
                    theirs.lines().anyMatch(l -> l.strip().startsWith(line)),
                    () -> "lspci does not say \"" + line + "\" but\n" + theirs);
        }
    }

    private static String describe() throws IOException {
        try (ScratchSystem system = new ScratchSystem()) {
            return Probe.describe(system.socket());
        }
    }

    private static String golden() throws IOException {
        try (InputStream in = ProbeTest.class.getResourceAsStream("probe-scratch-device.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
