// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands with No_reply get no byte back, whether they succeed or fail, and keep their order (rust-vmm/vfio#141). */
final class PostedTest extends ConformanceTest {
    @Test
    void aPostedWriteIsDoneBeforeTheNextRead() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        for (int i = 0; i < 1000; i++) {
            p.send(Message.write32(s.bar(), s.offset(), i).posted());
            assertEquals(i, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
        }
    }

    @Test
    void orderHoldsAcrossRegions() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        for (int i = 0; i < 200; i++) {
            p.send(Message.write32(s.bar(), s.offset(), i).posted());
            p.send(Message.command(Wire.REGION_WRITE)
                    .u64(0x3c) // Interrupt Line: a byte that software writes and nobody else
                    .u32(Wire.CONFIG_REGION)
                    .u32(1)
                    .u8(i)
                    .posted());
            assertEquals(
                    i & 0xff, p.ok(Message.read(Wire.CONFIG_REGION, 0x3c, 4)).u32(16) & 0xff);
            assertEquals(i, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
        }
    }

    @Test
    void noCommandThatIsPostedIsAnswered() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        List<Message> commands = List.of(
                Message.version("{}"),
                Message.dmaMap(3, 0, 0x100000, 0x1000),
                Message.dmaMap(3, 0, 0x100000, 0x1000),
                Message.dmaUnmap(0, 0x100000, 0x1000),
                Message.dmaUnmap(0, 0x100000, 0x1000),
                Message.getInfo(),
                Message.getRegionInfo(4096, 0),
                Message.getRegionInfo(4096, 99),
                Message.getRegionIoFds(4096, 0),
                Message.getIrqInfo(0),
                Message.getIrqInfo(99),
                Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.MSIX, 0, 0),
                Message.setIrqs(0, Wire.MSIX, 0, 0),
                Message.read(s.bar(), s.offset(), 4),
                Message.read(99, 0, 4),
                Message.write32(s.bar(), s.offset(), 7),
                Message.write32(s.bar(), -4, 7),
                Message.reset(),
                Message.feature(16, Wire.FEATURE_GET | Wire.FEATURE_DEVICE_STATE),
                Message.feature(16, Wire.FEATURE_GET | 999),
                Message.command(Wire.MIG_DATA_READ).u32(16).u32(8),
                Message.command(Wire.MIG_DATA_WRITE).u32(8).u32(0),
                Message.command(999).bytes(new byte[40]),
                Message.command(Wire.GET_INFO));
        for (Message m : commands) {
            p.send(m.posted());
            p.nothingPending();
        }
    }

    @Test
    void aPostedMapTakesItsDescriptorAndAFailedOneLosesIt() {
        RawPeer p = peer();
        int fd = memfd(0x1000);
        int before = Fds.count();
        p.send(Message.dmaMap(3, 0, 0x100000, 0x1000).posted(), fd);
        p.nothingPending();
        assertEquals(1, system.windows());
        int held = Fds.count();
        for (int i = 0; i < 10; i++) {
            p.send(Message.dmaMap(3, 0, 0x100000, 0x1000).posted(), fd);
        }
        p.nothingPending();
        assertEquals(held, Fds.count(), "open descriptors");
        p.send(Message.dmaUnmap(0, 0x100000, 0x1000).posted());
        p.nothingPending();
        assertEquals(0, system.windows());
        assertTrue(Fds.count() <= before, "open descriptors");
    }

    @Test
    void aFloodOfPostedWritesIsTakenInOrder() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        int n = 20_000;
        for (int i = 1; i <= n; i++) {
            p.sendQuietly(Message.write32(s.bar(), s.offset(), i).posted());
        }
        assertEquals(n, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
        p.nothingPending();
    }
}
