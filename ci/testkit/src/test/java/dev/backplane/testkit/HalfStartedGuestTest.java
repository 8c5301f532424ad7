// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A guest whose QEMU runs, but whose sockets do not answer, leaves nothing behind. */
@Timeout(30)
class HalfStartedGuestTest {
    /** A QEMU that leaves files where its sockets should be. */
    private static final class Silent implements GuestRunner.Instance {
        private boolean alive = true;

        Silent(Path directory) {
            try {
                Files.createFile(directory.resolve("agent"));
                Files.createFile(directory.resolve("qmp"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public InputStream console() {
            return new ByteArrayInputStream(new byte[0]);
        }

        @Override
        public String errors() {
            return "";
        }

        @Override
        public boolean alive() {
            return alive;
        }

        @Override
        public void kill() {
            alive = false;
        }

        @Override
        public void onExit(Runnable action) {}
    }

    @Test
    void closingItEndsItsQemu(@TempDir Path directory) {
        Silent[] started = new Silent[1];
        Path nothing = directory.resolve("none");
        Guest guest = new Guest(
                (name, image, arguments, folder) -> started[0] = new Silent(folder),
                new GuestImage(nothing, nothing, List.of(), "", "tcg"),
                GuestConfig.named("silent"),
                directory);
        assertThrows(GuestFailure.class, guest::start);
        assertTrue(started[0].alive);
        guest.close();
        assertFalse(started[0].alive);
    }
}
