// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A window is unmapped while data paths use it: the answer comes when nothing can touch the memory any more, and a data
 * path sees a fault, never a crash.
 */
final class UnmapUnderTrafficTest extends ConformanceTest {
    private static final long BASE = 0x4000_0000L;
    private static final long BYTES = 0x10000;
    private static final int THREADS = 2;
    private static final int ROUNDS = 300;

    @Test
    void nothingIsWrittenAfterTheAnswer() throws Exception {
        RawPeer p = peer();
        int[] files = {memfd(BYTES), memfd(BYTES)};
        p.ok(Message.dmaMap(3, 0, BASE, BYTES), files[0]);
        assumeTrue(system.link().isPresent(), "the test cannot use guest memory itself");
        GuestMemory memory = system.link().orElseThrow().memory();
        AtomicBoolean stop = new AtomicBoolean();
        List<FutureTask<long[]>> paths = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            FutureTask<long[]> path = new FutureTask<>(() -> write(memory, stop));
            paths.add(path);
            Thread.ofPlatform().name("path " + i).start(path);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment[] views = {Fds.map(files[0], 0, BYTES, arena), Fds.map(files[1], 0, BYTES, arena)};
            for (int i = 0; i < ROUNDS; i++) {
                int old = i % 2;
                p.ok(Message.dmaUnmap(0, BASE, BYTES));
                views[old].fill((byte) 0);
                p.ok(Message.dmaMap(3, 0, BASE, BYTES), files[1 - old]);
                if (i % 16 == 0) {
                    // whoever still wrote into the old file would do so now, into zeroes
                    assertEquals(-1, views[old].mismatch(arena.allocate(BYTES)), "round " + i);
                }
            }
        } finally {
            stop.set(true);
        }
        long writes = 0;
        for (FutureTask<long[]> path : paths) {
            writes += path.get()[0];
        }
        assertTrue(writes > 0, "the data paths never wrote");
        assertEquals(1, system.windows());
    }

    @Test
    void aResetAndADisconnectComeToAnEndUnderTraffic() throws Exception {
        for (int i = 0; i < 10; i++) {
            RawPeer p = peer();
            p.ok(Message.dmaMap(3, 0, BASE, BYTES), memfd(BYTES));
            assumeTrue(system.link().isPresent(), "the test cannot use guest memory itself");
            GuestMemory memory = system.link().orElseThrow().memory();
            AtomicBoolean stop = new AtomicBoolean();
            FutureTask<long[]> path = new FutureTask<>(() -> write(memory, stop));
            Thread.ofPlatform().name("path").start(path);
            p.ok(Message.reset());
            p.close();
            eventually("no window is left", () -> system.windows() == 0);
            stop.set(true);
            path.get();
        }
    }

    /** Writes all over the window until told to stop; returns the numbers of writes and of faults. */
    private static long[] write(GuestMemory memory, AtomicBoolean stop) {
        long[] n = new long[2];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(256, 8);
            data.fill((byte) 0x5a);
            while (!stop.get()) {
                int use = memory.enter();
                try {
                    memory.write(BASE + (n[0] * 256 & (BYTES - 1)), data, 0, 256);
                    n[0]++;
                } catch (GuestMemoryFault gone) {
                    n[1]++;
                } finally {
                    memory.exit(use);
                }
                if ((n[0] + n[1]) % 64 == 0) {
                    LockSupport.parkNanos(1); // on few processors the others want to come to an end, too
                }
            }
        }
        return n;
    }
}
