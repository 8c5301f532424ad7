// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.conformance.Wire;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.natives.FileSystems;
import dev.backplane.vfiouser.natives.FuseFile;
import dev.backplane.vfiouser.natives.RawCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What must not become a window: no memory, or a file whose pages somebody else may withhold. */
@Timeout(60)
final class BadFilesTest {
    private static final int RW = 3;

    @TempDir
    private Path temp;

    private ScratchSystem system;
    private RawPeer peer;

    @BeforeEach
    void start() throws IOException {
        system = new ScratchSystem();
        peer = RawPeer.negotiated(system.socket());
    }

    @AfterEach
    void stop() throws IOException {
        peer.close();
        system.close();
    }

    private void isRefused(int fd) {
        long before = refused();
        int descriptors = Fds.count();
        peer.fails(Wire.EINVAL, Message.dmaMap(RW, 0, 0x10000, 0x1000), fd);
        assertEquals(before + 1, refused(), "files_refused");
        assertEquals(descriptors, Fds.count(), "open descriptors");
        assertEquals(0, system.windows());
        peer.nothingPending();
    }

    private long refused() {
        return system.server().counters().stream()
                .flatMap(g -> g.all().stream())
                .filter(c -> c.name().equals("files_refused"))
                .mapToLong(Counter::get)
                .sum();
    }

    @Test
    void whatIsNoFileIsRefused() throws IOException {
        int[] sockets = Fds.socketPair();
        int event = Fds.eventfd();
        int[] others = {
            sockets[0],
            event,
            RawCalls.open(temp.toString(), false),
            RawCalls.open("/dev/null", true),
            RawCalls.open("/dev/zero", true)
        };
        try {
            for (int fd : others) {
                isRefused(fd);
            }
        } finally {
            Fds.close(sockets[1]);
            for (int fd : others) {
                Fds.close(fd);
            }
        }
    }

    @Test
    void filesOfTheKernelsOwnAreRefused() throws IOException {
        int fd = RawCalls.open("/proc/self/maps", false);
        try {
            assertFalse(FileSystems.isLocal(fd));
            peer.fails(Wire.EINVAL, Message.dmaMap(1, 0, 0x10000, 0x1000), fd);
        } finally {
            Fds.close(fd);
        }
    }

    @Test
    void memoryAndFilesOfThisMachineAreTaken() throws IOException {
        int memory = Fds.memfd(0x1000);
        assertTrue(FileSystems.isMemory(memory));
        peer.ok(Message.dmaMap(RW, 0, 0x10000, 0x1000), memory);
        Fds.close(memory);
        Path file = Files.write(temp.resolve("disk"), new byte[0x1000]);
        int disk = RawCalls.open(file.toString(), true);
        try {
            assumeTrue(FileSystems.isLocal(disk), () -> temp + " is not on a file system of this machine");
            peer.ok(Message.dmaMap(RW, 0, 0x20000, 0x1000), disk);
        } finally {
            Fds.close(disk);
        }
        assertEquals(2, system.windows());
    }

    @Test
    void aFileThatSomebodyServesIsRefusedWithoutAskingHim() throws IOException {
        Path at = Files.createFile(temp.resolve("fuse"));
        try (FuseFile file = FuseFile.serve(at)) {
            assumeTrue(file != null, "no FUSE here");
            isRefused(file.fd());
        }
    }
}
