// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.conformance.Wire;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory for a connection, by what it counts itself: bounded whatever a client says or does. */
@Timeout(60)
final class ConnectionMemoryTest {
    private static final int CONNECTIONS = 64;
    private static final long IDLE_LIMIT = 256 << 10;
    private static final int LARGE = 1 << 20;

    @Test
    void anIdleConnectionTakesLittle() throws IOException {
        List<ScratchSystem> systems = new ArrayList<>();
        List<RawPeer> peers = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++) {
                systems.add(new ScratchSystem());
            }
            RawPeer.negotiated(systems.getFirst().socket()).close(); // classes loaded
            long before = heap();
            for (ScratchSystem s : systems) {
                RawPeer p = RawPeer.negotiated(s.socket());
                p.nothingPending();
                peers.add(p);
            }
            long each = (heap() - before) / CONNECTIONS; // the peers' part is counted too
            for (ScratchSystem s : systems) {
                long outside = s.server().bufferUse().held();
                assertTrue(outside + each < IDLE_LIMIT, "heap " + each + ", outside " + outside);
                assertEquals(outside, s.server().bufferUse().peak(), "never more than when idle");
            }
            System.out.println("an idle connection: heap " + each + " bytes, outside "
                    + systems.getFirst().server().bufferUse().held());
        } finally {
            peers.forEach(RawPeer::close);
            for (ScratchSystem s : systems) {
                s.close();
            }
        }
    }

    private static long heap() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void aLargeMessageTakesAtMostTwiceItsSizeAndThatOnlyWhileItLasts() throws IOException {
        try (ScratchSystem system = new ScratchSystem()) {
            RawPeer p = RawPeer.negotiated(system.socket());
            long idle = system.server().bufferUse().held();
            byte[] write = Message.write(99, 0, new byte[LARGE]).toBytes();
            for (int step : new int[] {write.length, 65_536, 4099}) {
                p.sendInPieces(write, step, 0);
                assertEquals(Wire.REPLY | Wire.ERROR, p.receive().flags());
                p.nothingPending();
            }
            long after = system.server().bufferUse().peak();
            assertTrue(after > LARGE && after <= 2 * LARGE, "peak of incoming messages: " + after);
            for (int i = 0; i < 3; i++) {
                p.ok(Message.read(ScratchDevice.MEMORY, 0, 0x10000));
            }
            p.nothingPending();
            assertEquals(idle, system.server().bufferUse().held(), "held when nothing is under way");
            p.close();
        }
    }

    @Test
    void aHeaderAloneTakesNothing() throws IOException {
        try (ScratchSystem system = new ScratchSystem()) {
            RawPeer p = RawPeer.negotiated(system.socket());
            long idle = system.server().bufferUse().held();
            byte[] write = Message.write(99, 0, new byte[LARGE]).toBytes();
            p.sendBytes(Arrays.copyOf(write, 20_000)); // it says a megabyte, and stops
            p.endOfStream();
            assertEquals(0, p.readToEnd().length);
            assertTrue(system.server().bufferUse().peak() < idle + 65_536, "not more than twice of what has come");
            p.close();
        }
    }
}
