// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DMA_MAP: with and without a file, and every range that must be refused (libvfio-user#545, #593; spdk#1813). */
final class DmaMapTest extends ConformanceTest {
    private static final int RW = Wire.MAP_READ | Wire.MAP_WRITE;
    private static final long MIB = 1 << 20;

    /** VFIO_USER_F_DMA_REGION_* of libvfio-user's vfio-user.h. */
    private static final int MMAP = 4;

    private static final int FILE_IO = 8;

    @Test
    void theReplyIsAHeaderAndNothingElse() {
        RawPeer p = peer();
        Message m = Message.dmaMap(RW, 0, 0x10000, MIB);
        Received r = p.call(m, memfd(MIB));
        assertArrayEquals(
                Message.command(Wire.DMA_MAP).id(m.id()).flags(Wire.REPLY).toBytes(), r.bytes());
        assertEquals(1, system.windows());
    }

    @Test
    void mapsWithoutAFile() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(Wire.MAP_READ, 0, 0xfffc0000L, 0x40000));
        p.ok(Message.dmaMap(RW, 0, 0xfd000000L, 16 * MIB));
        assertEquals(2, system.windows());
    }

    @Test
    void mapsAPartOfAFileAndTheSameFileTwice() {
        RawPeer p = peer();
        int fd = memfd(4 * MIB);
        p.ok(Message.dmaMap(RW, 0, 0, MIB), fd);
        p.ok(Message.dmaMap(RW, 2 * MIB, 0x100000000L, 2 * MIB), fd);
        p.ok(Message.dmaMap(Wire.MAP_READ, 2 * MIB, 0x200000000L, 2 * MIB), fd);
        assertEquals(3, system.windows());
    }

    @Test
    void mapsUpToTheTopOfTheAddressSpace() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, -4096, 4096), memfd(4096));
        p.ok(Message.dmaUnmap(0, -4096, 4096));
    }

    @ParameterizedTest
    @CsvSource({
        "0x10000, 0x2000", // the same
        "0x10000, 0x1000", // shorter
        "0x10000, 0x3000", // longer
        "0xf000, 0x2000", // over the start
        "0x11000, 0x1000", // the last page
        "0x0, 0x100000", // around
    })
    void mappingOverAWindowIsEexist(String address, String size) {
        RawPeer p = peer();
        p.ok(Message.dmaMap(RW, 0, 0x10000, 0x2000), memfd(0x2000));
        p.fails(Wire.EEXIST, Message.dmaMap(RW, 0, Long.decode(address), Long.decode(size)));
        p.fails(Wire.EEXIST, Message.dmaMap(RW, 0, Long.decode(address), Long.decode(size)), memfd(MIB));
        assertEquals(1, system.windows());
    }

    @ParameterizedTest
    @CsvSource({
        // offset, address, size
        "0, 0x1000, 0",
        "0, 0x1000, 0xffffffffffffffff",
        "0, 0x1000, 0xfffffffffffff000",
        "0, 0xfffffffffffff000, 0x2000",
        "0, 0xffffffffffffffff, 0x1000",
        "0, 0x1000, 0x8000000000000000",
        "0, 0x1000, 1", // not whole pages
        "0, 0x1001, 0x1000",
        "0, 0x1000, 0x1001",
    })
    void impossibleRangesAreEinval(String offset, String address, String size) {
        RawPeer p = peer();
        Message m = Message.dmaMap(
                RW,
                Long.decode(offset),
                Long.parseUnsignedLong(hex(address), 16),
                Long.parseUnsignedLong(hex(size), 16));
        p.send(m);
        p.answerFails(Wire.EINVAL, m);
        p.send(m, memfd(MIB));
        p.answerFails(Wire.EINVAL, m);
        assertEquals(0, system.windows());
    }

    @ParameterizedTest
    @CsvSource({
        // offset, size against a file of 1 MiB
        "0, 0x100001",
        "0x100000, 0x1000",
        "0xff000, 0x2000",
        "0x7ffffffffffff000, 0x1000",
        "0x7ffffffffffff000, 0x2000",
        "0xfffffffffffff000, 0x1000",
        "0xfffffffffffff000, 0x2000",
        "0x10, 0x1000",
        "1, 1",
    })
    void aWindowMustLieInsideItsFile(String offset, String size) {
        RawPeer p = peer();
        p.fails(
                Wire.EINVAL,
                Message.dmaMap(
                        RW, Long.parseUnsignedLong(hex(offset), 16), 0x10000, Long.parseUnsignedLong(hex(size), 16)),
                memfd(MIB));
        assertEquals(0, system.windows());
    }

    @Test
    void aWindowOfMoreThanEightTebibytesIsEnospc() {
        RawPeer p = peer();
        p.fails(Wire.ENOSPC, Message.dmaMap(RW, 0, 0x10000, (8L << 40) + 0x1000));
        p.fails(Wire.ENOSPC, Message.dmaMap(RW, 0, 0, Long.MAX_VALUE - 0xfff));
        p.ok(Message.dmaMap(RW, 0, 0x10000, 8L << 40));
        assertEquals(1, system.windows());
    }

    @Test
    void oneWayToAccessTheFileIsChosen() {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.dmaMap(RW | MMAP | FILE_IO, 0, 0x10000, 0x1000), memfd(MIB));
        p.ok(Message.dmaMap(RW | MMAP, 0, 0x10000, 0x1000), memfd(MIB));
        p.ok(Message.dmaMap(RW | FILE_IO, 0, 0x20000, 0x1000), memfd(MIB));
        assertEquals(2, system.windows());
    }

    @Test
    void anOffsetWithoutAFileIsHarmless() {
        RawPeer p = peer();
        Received r = p.call(Message.dmaMap(RW, 0x1000, 0x10000, 0x1000));
        // "or zero if the region is not mappable": a client that sends another value harms nobody
        assertEquals(r.flags() == Wire.REPLY ? 1 : 0, system.windows());
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 0x10, 0x80000000, -1})
    void unknownFlagsAreEinval(int flags) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.dmaMap(flags, 0, 0x10000, 0x1000));
        assertEquals(0, system.windows());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 31})
    void aSmallArgszIsEinval(int argsz) {
        RawPeer p = peer();
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.DMA_MAP)
                        .u32(argsz)
                        .u32(RW)
                        .u64(0)
                        .u64(0x10000)
                        .u64(0x1000));
        assertEquals(0, system.windows());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 31})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.DMA_MAP).bytes(new byte[bytes]), memfd(MIB));
        assertEquals(0, system.windows());
    }

    @Test
    void descriptorsThatCannotBeMappedAreRefusedAndClosed() {
        RawPeer p = peer();
        int[] pair = Fds.socketPair();
        List<Integer> bad = new ArrayList<>(List.of(eventfd(), keep(pair[0]), keep(pair[1])));
        int before = Fds.count();
        for (int fd : bad) {
            Received r = p.call(Message.dmaMap(RW, 0, 0x10000, 0x1000), fd);
            assertEquals(Wire.REPLY | Wire.ERROR, r.flags(), "flags of the reply");
            assertEquals(Wire.HEADER, r.bytes().length);
        }
        assertEquals(before, Fds.count(), "open descriptors");
        assertEquals(0, system.windows());
    }

    @Test
    void twoDescriptorsAreRefused() {
        RawPeer p = peer();
        int a = memfd(MIB);
        int b = memfd(MIB);
        int before = Fds.count();
        p.fails(Wire.EINVAL, Message.dmaMap(RW, 0, 0x10000, 0x1000), a, b);
        assertEquals(before, Fds.count(), "open descriptors");
    }

    @Test
    void aFailedMapLeavesNothingBehind() {
        RawPeer p = peer();
        int fd = memfd(MIB);
        p.fails(Wire.EINVAL, Message.dmaMap(RW, 0, 0x10000, 2 * MIB), fd);
        p.ok(Message.dmaMap(RW, 0, 0x10000, MIB), fd);
        p.ok(Message.dmaUnmap(0, 0x10000, MIB));
        assertEquals(0, system.windows());
    }

    private static String hex(String number) {
        return number.startsWith("0x") ? number.substring(2) : Long.toHexString(Long.parseLong(number));
    }
}
