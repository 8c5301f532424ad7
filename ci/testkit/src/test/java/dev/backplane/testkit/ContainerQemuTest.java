// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A guest whose QEMU runs in a container. */
@Tag("guest")
@Timeout(240)
class ContainerQemuTest {
    @Test
    void aGuestRunsInAContainerAndIsGoneWhenKilled() throws Exception {
        String image = System.getenv(ContainerQemu.IMAGE);
        assumeTrue(
                image != null,
                ContainerQemu.IMAGE
                        + " is not set, so there is no container engine: run images/container ci/test --e2e");
        Path directory = Files.createDirectory(
                Files.createTempDirectory(Path.of("/tmp"), "bpc-").resolve("boxed"));
        try (Guest guest = new Guest(
                new ContainerQemu(image), GuestImage.fromEnvironment(), GuestConfig.named("boxed"), directory)) {
            guest.start();
            guest.awaitBooted();
            assertEquals(
                    "hello\n",
                    guest.exec("echo hello", Duration.ofSeconds(30)).ok().out());
            guest.kill();
            assertFalse(guest.alive());
            guest.kill(); // as one that does not know does
        }
    }

    @Test
    void withoutAnImageItSaysWhatToDo() {
        String message = assertThrows(IllegalStateException.class, () -> new ContainerQemu(""))
                .getMessage();
        assertTrue(message.contains("images/container"), message);
    }
}
