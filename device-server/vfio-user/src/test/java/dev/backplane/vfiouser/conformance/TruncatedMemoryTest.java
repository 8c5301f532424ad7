// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A client that shortens the file behind its windows harms its own device and nothing else. */
final class TruncatedMemoryTest extends ConformanceTest {
    private static final long BYTES = 1 << 20;

    private RawPeer p;
    private int file;
    private GuestMemory memory;

    @BeforeEach
    void map() {
        p = peer();
        file = memfd(BYTES);
        p.ok(Message.dmaMap(3, 0, 0x100000, BYTES), file);
        assumeTrue(system.link().isPresent(), "the test cannot use guest memory itself");
        memory = system.link().orElseThrow().memory();
    }

    @Test
    void anAccessFailsAsAFaultAndTheServerLives() {
        read(0x100000);
        Fds.truncate(file, 0);
        GuestMemoryFault fault = assertThrows(GuestMemoryFault.class, () -> read(0x100000));
        assertEquals(GuestMemoryFault.Reason.BROKEN, fault.reason());
        fault = assertThrows(GuestMemoryFault.class, () -> read(0x180000));
        assertEquals(GuestMemoryFault.Reason.BROKEN, fault.reason());
        assertTrue(memory.broken());
        p.nothingPending();
        p.ok(Message.dmaUnmap(0, 0x100000, BYTES));
    }

    @Test
    void theNextClientStartsWhole() {
        Fds.truncate(file, 0);
        assertThrows(GuestMemoryFault.class, () -> read(0x100000));
        p.close();
        p = peer();
        p.ok(Message.dmaMap(3, 0, 0x100000, BYTES), memfd(BYTES));
        memory = system.link().orElseThrow().memory();
        read(0x100000);
        assertTrue(!memory.broken());
    }

    @Test
    void mappingAFileThatHasBecomeShorterIsRefused() {
        Fds.truncate(file, 0x1000);
        p.fails(Wire.EINVAL, Message.dmaMap(3, 0, 0x800000, 0x2000), file);
        p.ok(Message.dmaMap(3, 0, 0x800000, 0x1000), file);
    }

    private void read(long iova) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = arena.allocate(64, 8);
            int use = memory.enter();
            try {
                memory.read(iova, to, 0, 64);
            } finally {
                memory.exit(use);
            }
        }
    }
}
