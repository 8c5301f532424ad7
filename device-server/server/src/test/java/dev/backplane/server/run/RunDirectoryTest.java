// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may use a run directory, and what happens to what lies in it. */
class RunDirectoryTest {
    @TempDir
    private Path temp;

    @Test
    void isMadeForItsOwnerOnly() throws Exception {
        try (RunDirectory run = RunDirectory.take(temp.resolve("a/b"))) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(run.path())));
        }
    }

    @Test
    void aSecondServerIsRefusedUntilTheFirstHasGone() throws Exception {
        try (RunDirectory run = RunDirectory.take(temp)) {
            String message = assertThrows(StartException.class, () -> RunDirectory.take(temp))
                    .getMessage();
            assertTrue(message.contains("process id " + ProcessHandle.current().pid()), message);
            assertTrue(message.contains("--run-dir"), message);
            assertEquals(1, message.lines().count());
            assertTrue(Files.isDirectory(run.path()));
        }
        RunDirectory.take(temp).close();
    }

    @Test
    void aStaleSocketIsReplaced() throws Exception {
        Path socket = temp.resolve("s.sock");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
        }
        assertTrue(Files.exists(socket));
        try (RunDirectory run = RunDirectory.take(temp)) {
            assertEquals(socket, run.socket("s.sock"));
            assertFalse(Files.exists(socket));
        }
    }

    @Test
    void aLiveSocketIsRefusedAndLeftAlone() throws Exception {
        Path socket = temp.resolve("s.sock");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                RunDirectory run = RunDirectory.take(temp)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            String message = assertThrows(StartException.class, () -> run.socket("s.sock"))
                    .getMessage();
            assertTrue(message.startsWith("another process listens on " + socket), message);
            assertTrue(Files.exists(socket));
        }
    }

    @Test
    void whatIsNoSocketIsLeftAlone() throws Exception {
        Files.writeString(temp.resolve("s.sock"), "precious");
        try (RunDirectory run = RunDirectory.take(temp)) {
            String message = assertThrows(StartException.class, () -> run.socket("s.sock"))
                    .getMessage();
            assertTrue(message.contains("is not a socket"), message);
        }
        assertEquals("precious", Files.readString(temp.resolve("s.sock")));
    }

    @Test
    void aPathThatIsTooLongIsToldWithItsLength() throws Exception {
        int room = RunDirectory.MAX_SOCKET_PATH - temp.toString().length() - 1;
        try (RunDirectory run = RunDirectory.take(temp)) {
            run.socket("x".repeat(room));
            String message = assertThrows(StartException.class, () -> run.socket("x".repeat(room + 1)))
                    .getMessage();
            assertTrue(message.contains("has 108 bytes, the system allows 107"), message);
        }
    }

    @Test
    void aDirectoryThatCannotBeMadeIsOneLine() throws Exception {
        Path file = Files.writeString(temp.resolve("file"), "");
        String message = assertThrows(StartException.class, () -> RunDirectory.take(file.resolve("below")))
                .getMessage();
        assertTrue(message.startsWith("cannot use run directory " + file.resolve("below")), message);
        assertEquals(1, message.lines().count());
    }
}
