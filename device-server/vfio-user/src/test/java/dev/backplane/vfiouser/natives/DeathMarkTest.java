// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The word that the kernel marks, seen by another process that maps it. */
@Timeout(60)
class DeathMarkTest {
    private static final int BYTES = 4096;
    private static final int AT = 8;

    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void makeFile() throws IOException {
        file = directory.resolve("word");
        Files.write(file, new byte[BYTES]);
    }

    private static MemorySegment map(Path file, Arena arena) throws IOException {
        try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return c.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
        }
    }

    private static int word(MemorySegment page) {
        return (int) ValueLayout.JAVA_INT.varHandle().getVolatile(page, (long) AT);
    }

    /** The other process: marks the word and does what it is told. */
    public static final class Marked {
        public static void main(String[] arguments) throws Exception {
            DeathMark.on(map(Path.of(arguments[0]), Arena.global()).asSlice(AT, 4));
            System.out.println("marked");
            if (arguments[1].equals("exit")) {
                System.exit(0);
            }
            while (true) {
                LockSupport.park();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"killed", "exit"})
    void endOfTheProcessIsSeenByOthers(String how) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = map(file, arena);
            Process p = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-Xmx32m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Marked.class.getName(),
                            file.toString(),
                            how)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (BufferedReader out = p.inputReader()) {
                assertEquals("marked", out.readLine());
                if (how.equals("killed")) {
                    int living = word(page);
                    assertNotEquals(0, living);
                    assertEquals(0, living & DeathMark.DEAD);
                    p.destroyForcibly();
                }
                assertTrue(p.waitFor(30, TimeUnit.SECONDS));
                assertEquals(DeathMark.DEAD, word(page));
            } finally {
                p.destroyForcibly();
            }
        }
    }

    @Test
    void closedMarkSaysSoAndLeavesTheWordAlone() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment page = map(file, arena);
            DeathMark mark = DeathMark.on(page.asSlice(AT, 4));
            assertTrue(word(page) > 0 && word(page) < DeathMark.DEAD, "word " + word(page));
            mark.close();
            assertEquals(DeathMark.DEAD, word(page));
            page.set(ValueLayout.JAVA_INT, AT, 5);
            mark.close();
            assertEquals(5, word(page));
        }
    }

    @Test
    void segmentThatCannotBeMarkedIsRefusedAtOnce() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment page = map(file, arena);
            assertThrows(IndexOutOfBoundsException.class, () -> DeathMark.on(page.asSlice(AT, 2)));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> DeathMark.on(page.asSlice(AT, 4).asReadOnly()));
            assertThrows(IllegalArgumentException.class, () -> DeathMark.on(page.asSlice(AT + 1, 4)));
            assertEquals(0, word(page));
        }
    }
}
