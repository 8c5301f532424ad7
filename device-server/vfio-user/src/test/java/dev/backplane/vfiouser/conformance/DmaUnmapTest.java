// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DMA_UNMAP: the entry is echoed, the match exact (rust-vmm ddf82a0, libvfio-user#597, spdk#1813). */
final class DmaUnmapTest extends ConformanceTest {
    private static final int RW = Wire.MAP_READ | Wire.MAP_WRITE;

    @Test
    void theReplyEchoesTheEntry() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x2000), memfd(0x2000));
        Message m = Message.dmaUnmap(0, 0x10000, 0x2000);
        assertArrayEquals(
                Message.dmaUnmap(0, 0x10000, 0x2000)
                        .id(m.id())
                        .flags(Wire.REPLY)
                        .toBytes(),
                p.call(m).bytes());
        assertEquals(0, system.windows());
        p.nothingPending();
    }

    @Test
    void unmapsWhatHadNoFile() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0xfd000000L, 16 << 20));
        p.ok(Message.dmaUnmap(0, 0xfd000000L, 16 << 20));
        p.fails(Wire.ENOENT, Message.dmaUnmap(0, 0xfd000000L, 16 << 20));
        p.close();
        peer().nothingPending();
    }

    @ParameterizedTest
    @CsvSource({
        "0x20000, 0x2000", // nothing there
        "0x10000, 0x1000", // shorter
        "0x10000, 0x3000", // longer
        "0x11000, 0x1000", // inside
        "0xf000, 0x4000", // around
        "0x10000, 0", // no size
        "0, 0",
    })
    void anInexactMatchIsEnoent(String address, String size) {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x2000), memfd(0x2000));
        p.fails(Wire.ENOENT, Message.dmaUnmap(0, Long.decode(address), Long.decode(size)));
        assertEquals(1, system.windows());
    }

    @Test
    void extremeRangesAreEnoent() {
        RawPeer p = peer();
        p.fails(Wire.ENOENT, Message.dmaUnmap(0, -1, -1));
        p.fails(Wire.ENOENT, Message.dmaUnmap(0, -4096, 8192));
        p.fails(Wire.ENOENT, Message.dmaUnmap(0, Long.MIN_VALUE, Long.MIN_VALUE));
        p.nothingPending();
    }

    @Test
    void unmapAllRemovesEverything() {
        RawPeer p = peer();
        for (int i = 0; i < 20; i++) {
            if (i % 3 == 0) {
                p.ok(Message.dmaMap(RW, 0, 0x10000L * i, 0x1000));
            } else {
                p.ok(Message.dmaMap(RW, 0, 0x10000L * i, 0x1000), memfd(0x1000));
            }
        }
        Message m = Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0);
        assertArrayEquals(
                Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0)
                        .id(m.id())
                        .flags(Wire.REPLY)
                        .toBytes(),
                p.call(m).bytes());
        assertEquals(0, system.windows());
        p.ok(Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0));
    }

    @Test
    void unmapAllWithARangeIsEinval() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x1000), memfd(0x1000));
        p.fails(Wire.EINVAL, Message.dmaUnmap(Wire.UNMAP_ALL, 0x10000, 0x1000));
        p.fails(Wire.EINVAL, Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0x1000));
        p.fails(Wire.EINVAL, Message.dmaUnmap(Wire.UNMAP_ALL, 0x10000, 0));
        assertEquals(1, system.windows());
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 8, 0x80000000, -1})
    void unknownFlagsAreEinval(int flags) {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x1000), memfd(0x1000));
        p.fails(Wire.EINVAL, Message.dmaUnmap(flags, 0x10000, 0x1000));
        assertEquals(1, system.windows());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 23})
    void aSmallArgszIsEinval(int argsz) {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x1000));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.DMA_UNMAP).u32(argsz).u32(0).u64(0x10000).u64(0x1000));
        assertEquals(1, system.windows());
    }

    @Test
    void aHugeArgszAllocatesNothingOfTheKind() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x1000));
        Received r = p.call(
                Message.command(Wire.DMA_UNMAP).u32(-1).u32(0).u64(0x10000).u64(0x1000));
        int bytes = r.bytes().length;
        assertEquals((r.flags() & Wire.ERROR) != 0 ? 16 : 40, bytes);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 23})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.DMA_UNMAP).bytes(new byte[bytes]));
        p.nothingPending();
    }

    @Test
    void mapAndUnmapAThousandTimes() {
        RawPeer p = peer();
        int fd = memfd(0x10000);
        int before = Fds.count();
        for (int i = 0; i < 1000; i++) {
            p.ok(Message.dmaMap(RW, 0, 0xc0000, 0x10000), fd);
            p.ok(Message.dmaUnmap(0, 0xc0000, 0x10000));
        }
        assertEquals(before, Fds.count(), "open descriptors");
        assertEquals(0, system.windows());
    }
}
