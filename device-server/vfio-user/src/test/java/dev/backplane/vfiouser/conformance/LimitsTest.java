// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a peer can claim or hold is bounded (libvfio-user#202, #469, #541, #588, #626, #835). */
final class LimitsTest extends ConformanceTest {
    private static final int MAX_WINDOWS = 65_535;

    @Test
    @Timeout(value = 240, unit = TimeUnit.SECONDS)
    void windowsAreLimited() {
        RawPeer p = peer();
        int fd = memfd(4096);
        int before = Fds.count();
        // in lots, so that neither side fills the other's buffer
        for (int i = 0; i < MAX_WINDOWS; i += 64) {
            int n = Math.min(64, MAX_WINDOWS - i);
            for (int k = 0; k < n; k++) {
                // with a file every 16th: the kernel lets a process have only so many mappings
                if (k % 16 == 0) {
                    p.sendQuietly(Message.dmaMap(3, 0, (i + k) * 0x2000L, 0x1000), fd);
                } else {
                    p.sendQuietly(Message.dmaMap(3, 0, (i + k) * 0x2000L, 0x1000));
                }
            }
            for (int k = 0; k < n; k++) {
                Received r = p.receive();
                if (r.flags() != Wire.REPLY) {
                    throw new AssertionError("window " + (i + k) + ": errno " + r.error());
                }
            }
        }
        assertEquals(MAX_WINDOWS, system.windows());
        p.fails(Wire.EINVAL, Message.dmaMap(3, 0, MAX_WINDOWS * 0x2000L, 0x1000));
        p.fails(Wire.EINVAL, Message.dmaMap(3, 0, MAX_WINDOWS * 0x2000L, 0x1000), fd);
        p.ok(Message.dmaUnmap(0, 0x2000, 0x1000));
        p.ok(Message.dmaMap(3, 0, MAX_WINDOWS * 0x2000L, 0x1000));
        p.ok(Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0));
        assertEquals(0, system.windows());
        assertEquals(before, Fds.count(), "open descriptors");
    }

    @Test
    void aClaimedSizeAllocatesNothing() {
        peer().close();
        System.gc();
        long before = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        for (int i = 0; i < 64; i++) {
            RawPeer p = keep(RawPeer.negotiated(system.socket()));
            Message m = Message.getInfo().size(i % 2 == 0 ? 0xffffffffL : 0x7fffffffL);
            p.send(m);
            FramingTest.refusedOrClosed(p, m);
            p.close();
        }
        System.gc();
        long after = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        assertTrue(after - before < 64 << 20, "heap grew by " + (after - before));
    }

    @Test
    void aMessageOfTheLargestSizeIsTaken() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        // the most data that was agreed on, to where it must be refused, and the answer still comes
        Message m = Message.write(99, 0, new byte[1 << 20]);
        p.fails(Wire.EINVAL, m);
        assertEquals(Wire.REPLY, p.call(Message.read(s.bar(), s.offset(), 4)).flags());
    }

    @Test
    void moreThanTheLargestIsRefusedOrEndsTheConnection() {
        RawPeer p = peer();
        Message m = Message.write(99, 0, new byte[(1 << 20) + 4096]);
        Thread sender = Thread.ofPlatform().start(() -> {
            try {
                p.sendQuietly(m);
            } catch (AssertionError closed) {
                // as allowed
            }
        });
        byte[] rest = p.readToEndOrQuiet(500);
        assertTrue(rest.length == 0 || rest.length == Wire.HEADER, "bytes of the answer: " + rest.length);
        p.abort(); // not closed before the sender has left it
        try {
            sender.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        p.close();
        peer().nothingPending();
    }

    @Test
    void repliesAreSizedByWhatThereIs() {
        RawPeer p = peer();
        for (Message m : List.of(
                Message.command(Wire.GET_INFO).u32(-1).u32(0).u32(0).u32(0),
                Message.getRegionInfo(0xffffffffL, 0),
                Message.getRegionInfo(0xffffffffL, Wire.CONFIG_REGION),
                Message.getRegionIoFds(0xffffffffL, 0),
                Message.command(Wire.GET_IRQ_INFO).u32(-1).u32(0).u32(0).u32(0),
                Message.feature(0xffffffffL, Wire.FEATURE_GET | Wire.FEATURE_MIGRATION))) {
            assertTrue(p.call(m).bytes().length < 4096, "command " + m.command());
        }
    }

    @Test
    void aReplyNeverExceedsWhatQemuMakesRoomFor() {
        RawPeer p = peer();
        int file = memfd(0x1000);
        // for these, QEMU's receive buffer is the request itself
        for (Message m : List.of(
                Message.dmaMap(3, 0, 0x1000, 0x1000),
                Message.dmaUnmap(0, 0x1000, 0x1000),
                Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.ERR, 0, 0),
                Message.write32(system.scratch().bar(), system.scratch().offset(), 1),
                Message.reset())) {
            int[] fds = m.command() == Wire.DMA_MAP ? new int[] {file} : new int[0];
            assertTrue(p.call(m, fds).bytes().length <= m.toBytes().length, "command " + m.command());
        }
        for (int argsz = 32; argsz < 200; argsz += 8) {
            for (int index = 0; index < Wire.PCI_REGIONS; index++) {
                Received r = p.call(Message.getRegionInfo(argsz, index));
                assertTrue(r.bytes().length <= Wire.HEADER + argsz);
                assertTrue(r.fds().length <= 1);
            }
        }
    }
}
