// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Barriers between the devices and the driver come in pairs, and each comment names the other half: a function in C as
 * {@code bp_} with a name and parentheses, a method in Java as {@code Class.method()}. Here every such name has to exist on the other side.
 */
@Timeout(30)
class BarrierPartnersTest {
    private static final Path JAVA = Path.of("src/main/java/dev/backplane/devices");
    private static final Path C = Path.of("../../guest-driver");

    private static final Pattern C_CITED = Pattern.compile("\\b(bp_[a-z0-9_]+)\\(\\)");
    private static final Pattern C_DEFINED = Pattern.compile("(?m)^[a-z][^\\n;=]*?\\b(bp_[a-z0-9_]+)\\(");
    private static final Pattern JAVA_CITED = Pattern.compile("\\b([A-Z][A-Za-z0-9]+)\\.([a-z][A-Za-z0-9]*)\\(\\)");

    private static List<Path> files(Path root, String... ends) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(p -> Stream.of(ends).anyMatch(e -> p.toString().endsWith(e)))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void functionsOfTheDriverThatTheDevicesNameExist() throws IOException {
        Set<String> defined = new HashSet<>();
        for (Path file : files(C, ".c", ".h")) {
            Matcher m = C_DEFINED.matcher(Files.readString(file));
            while (m.find()) {
                defined.add(m.group(1));
            }
        }
        List<String> missing = new ArrayList<>();
        Set<String> cited = new HashSet<>();
        for (Path file : files(Path.of("src"), ".java")) {
            Matcher m = C_CITED.matcher(Files.readString(file));
            while (m.find()) {
                cited.add(m.group(1));
                if (!defined.contains(m.group(1))) {
                    missing.add(file.getFileName() + ": " + m.group(1));
                }
            }
        }
        assertEquals(List.of(), missing, "names of functions that there are not in guest-driver");
        assertTrue(
                cited.containsAll(List.of(
                        "bp_agg_ring_publish",
                        "bp_agg_ring_completed",
                        "bp_agg_ring_arm",
                        "bp_flush",
                        "bp_ring_arm_when")),
                cited::toString);
    }

    @Test
    void methodsOfTheDevicesThatTheDriverNamesExist() throws IOException {
        List<String> missing = new ArrayList<>();
        Set<String> cited = new HashSet<>();
        for (Path file : files(C, ".c", ".h")) {
            Matcher m = JAVA_CITED.matcher(Files.readString(file));
            while (m.find()) {
                cited.add(m.group());
                if (!declared(m.group(1), m.group(2))) {
                    missing.add(file.getFileName() + ": " + m.group());
                }
            }
        }
        assertEquals(List.of(), missing, "names of methods that there are not in the devices");
        assertTrue(
                cited.containsAll(
                        List.of("Ring.producer()", "Ring.wantDoorbell()", "Ring.completed()", "Ring.wantsInterrupt()")),
                cited::toString);
    }

    private static boolean declared(String type, String method) throws IOException {
        Pattern declaration = Pattern.compile("(?m)^ {4,8}(?! ).*\\b" + method + "\\(.*\\{$");
        for (Path file : files(JAVA, "/" + type + ".java")) {
            if (declaration.matcher(Files.readString(file)).find()) {
                return true;
            }
        }
        return false;
    }

    @Test
    void everyFullFenceOfTheDevicesNamesItsPartner() throws IOException {
        List<String> silent = new ArrayList<>();
        int fences = 0;
        for (Path file : files(JAVA, ".java")) {
            String text = Files.readString(file);
            int at = -1;
            while ((at = text.indexOf("fullFence()", at + 1)) >= 0) {
                fences++;
                // The comment is before the fence, at the latest at the head of the method that it is in.
                int method = text.lastIndexOf("\n    }\n", at);
                if (!C_CITED.matcher(text.substring(Math.max(0, method), at)).find()) {
                    silent.add(file.getFileName() + ", offset " + at);
                }
            }
        }
        assertEquals(List.of(), silent, "fences whose comment names no function of the driver");
        assertTrue(fences >= 4, "fences found: " + fences);
    }
}
