// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that go without a word, and those that come after them (spdk#1922, #2092; libvfio-user#413, #439). */
final class DisconnectTest extends ConformanceTest {
    @Test
    void windowsAndDescriptorsGoWithTheClient() throws InterruptedException {
        int file = memfd(0x10000);
        int event = eventfd();
        peer().close();
        int before = Fds.count();
        for (int i = 0; i < 50; i++) {
            RawPeer p = RawPeer.negotiated(system.socket());
            p.ok(Message.dmaMap(3, 0, 0, 0x10000), file);
            p.ok(Message.dmaMap(3, 0, 0x100000, 0x10000));
            p.ok(Message.setIrqs(Wire.IRQ_EVENTFD | Wire.IRQ_TRIGGER, Wire.ERR, 0, 1), event);
            if (i % 2 == 0) {
                p.sendBytes(new byte[5]); // in the middle of a message
            }
            p.close();
        }
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors");
        eventually("no window is left", () -> system.windows() == 0);
    }

    @Test
    void theNextClientsMemoryIsItsOwn() {
        assumeTrue(system.link().isPresent() || system.windows() == 0);
        int fileA = memfd(0x10000);
        int fileB = memfd(0x10000);
        RawPeer a = peer();
        a.ok(Message.dmaMap(3, 0, 0, 0x10000), fileA);
        a.close();
        RawPeer b = peer();
        b.ok(Message.dmaMap(3, 0, 0, 0x10000), fileB);
        assertEquals(1, system.windows());
        assumeTrue(system.link().isPresent(), "the test cannot write guest memory itself");
        var memory = system.link().orElseThrow().memory();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mine = arena.allocate(4, 4);
            mine.set(ValueLayout.JAVA_INT, 0, 0x0b0b0b0b);
            int use = memory.enter();
            memory.write(0x100, mine, 0, 4);
            memory.exit(use);
            assertEquals(0, Fds.map(fileA, 0, 0x1000, arena).get(ValueLayout.JAVA_INT, 0x100), "the first client's");
            assertEquals(0x0b0b0b0b, Fds.map(fileB, 0, 0x1000, arena).get(ValueLayout.JAVA_INT, 0x100));
        }
    }

    @Test
    void theDeviceIsResetBetweenClientsAsToMemoryAndInterrupts() {
        RawPeer a = peer();
        a.ok(Message.command(Wire.REGION_WRITE)
                .u64(4)
                .u32(Wire.CONFIG_REGION)
                .u32(2)
                .u16(6));
        a.close();
        RawPeer b = peer();
        assertEquals(0, system.windows());
        b.nothingPending();
    }

    @Test
    void manyComeAndGo() {
        int before = Fds.count();
        for (int i = 0; i < 1000; i++) {
            RawPeer p = RawPeer.connect(system.socket());
            if (i % 3 == 0) {
                p.send(Message.version("{}"));
            }
            if (i % 3 == 1) {
                p.sendBytes(new byte[i % 20]);
            }
            p.close();
        }
        peer().nothingPending();
        assertTrue(Fds.awaitCount(before + 4) <= before + 4, "open descriptors: " + before + " before");
    }

    @Test
    void aSecondClientDoesNotDisturbTheFirst() {
        RawPeer first = peer();
        SystemUnderTest.Scratch s = system.scratch();
        first.ok(Message.write32(s.bar(), s.offset(), 0x1111));
        List<RawPeer> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            RawPeer other = RawPeer.connect(system.socket());
            others.add(other);
            other.send(Message.version("{}"));
            first.ok(Message.read(Wire.CONFIG_REGION, 0, 4));
        }
        others.forEach(RawPeer::close);
        assertEquals(0x1111, first.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
        first.close();
        peer().nothingPending();
    }

    @Test
    void aClientThatNeverReadsIsGivenUpAlone() throws InterruptedException {
        RawPeer deaf = peer();
        Thread flood = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < 2000; i++) {
                    deaf.sendQuietly(Message.read(Wire.CONFIG_REGION, 0, 4096));
                }
            } catch (AssertionError closed) {
                // the server may have thrown the connection away
            }
        });
        Thread.sleep(20);
        deaf.abort();
        flood.join();
        peer().nothingPending();
    }
}
