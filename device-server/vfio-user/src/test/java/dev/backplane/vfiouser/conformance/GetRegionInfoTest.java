// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.pci.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * DEVICE_GET_REGION_INFO: sizes, flags, one descriptor for all areas of a region and its offsets (libvfio-user#711, #472,
 * rust-vmm/vfio#132, cloud-hypervisor#7822, spdk#1963).
 */
final class GetRegionInfoTest extends ConformanceTest {
    private static final int READ = 1;
    private static final int WRITE = 2;
    private static final int MMAP = 4;
    private static final int CAPS = 8;
    private static final int INFO = 32;

    @Test
    void everyPciRegionIsDescribed() {
        RawPeer p = peer();
        for (int index = 0; index < Wire.PCI_REGIONS; index++) {
            Received r = p.ok(Message.getRegionInfo(4096, index));
            assertEquals(index, r.u32(8), "index");
            assertEquals(r.bytes().length - Wire.HEADER, r.u32(0), "argsz is what the full reply needs");
            Bar bar = index < 6 ? system.function().bar(index) : null;
            long bytes = index == Wire.CONFIG_REGION ? 4096 : bar == null ? 0 : bar.bytes();
            if (index == Wire.CONFIG_REGION) {
                assertTrue(r.u64(16) == 256 || r.u64(16) == 4096, "configuration space of " + r.u64(16) + " bytes");
            } else {
                assertEquals(bytes, r.u64(16), "size of region " + index);
            }
            boolean mapped = bar != null && !bar.mapped().isEmpty();
            int flags = bytes == 0 ? 0 : READ | WRITE | (mapped ? MMAP : 0);
            assertEquals(flags, r.u32(4) & ~CAPS, "flags of region " + index);
            assertEquals(mapped ? 1 : 0, r.fds().length, "descriptors of region " + index);
        }
    }

    @Test
    void unusedRegionsAreGolden() {
        RawPeer p = peer();
        Message m = Message.getRegionInfo(32, 8);
        assertEquals(
                java.util.HexFormat.of()
                        .formatHex(Message.command(Wire.GET_REGION_INFO)
                                .id(m.id())
                                .flags(Wire.REPLY)
                                .u32(INFO)
                                .u32(0)
                                .u32(8)
                                .u32(0)
                                .u64(0)
                                .u64(0)
                                .toBytes()),
                p.call(m).hex());
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 10, 99, 0x7fffffff, 0x80000000, -1})
    void anUnknownIndexIsEinval(int index) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.getRegionInfo(32, index));
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 16, 31})
    void aSmallArgszIsEinval(long argsz) {
        peer().fails(Wire.EINVAL, Message.getRegionInfo(argsz, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 31})
    void aShortPayloadIsEinval(int bytes) {
        peer().fails(Wire.EINVAL, Message.command(Wire.GET_REGION_INFO).bytes(new byte[bytes]));
    }

    @Test
    void aHugeArgszGetsAReplyOfTheTrueSize() {
        RawPeer p = peer();
        for (int index = 0; index < Wire.PCI_REGIONS; index++) {
            Received r = p.ok(Message.getRegionInfo(0xffffffffL, index));
            assertTrue(r.bytes().length < 4096, "bytes of the reply");
        }
    }

    @Test
    void whenTheCapabilitiesDoNotFitTheReplyTellsTheSizeAndNothingElse() {
        Bar bar = mappedBar();
        assumeTrue(bar != null, "the device has no mapped area");
        RawPeer p = peer();
        Received brief = p.ok(Message.getRegionInfo(INFO, bar.index()));
        assertEquals(Wire.HEADER + INFO, brief.bytes().length);
        if (brief.u32(0) > INFO) {
            assertEquals(0, brief.u32(4) & CAPS, "CAPS without capabilities makes QEMU fail");
            assertEquals(0, brief.u32(12), "cap_offset");
            assertEquals(0, brief.fds().length, "descriptors of a reply that is not complete");
            Received full = p.ok(Message.getRegionInfo(brief.u32(0), bar.index()));
            assertEquals(Wire.HEADER + brief.u32(0), full.bytes().length);
            assertEquals(1, full.fds().length);
            assertTrue((full.u32(4) & CAPS) != 0, "CAPS");
        }
    }

    @Test
    void theSparseAreasAreThoseOfTheDevice() {
        Bar bar = mappedBar();
        assumeTrue(bar != null, "the device has no mapped area");
        Received r = peer().ok(Message.getRegionInfo(4096, bar.index()));
        List<Bar.Area> areas = bar.mapped();
        boolean whole = areas.size() == 1 && areas.getFirst().bytes() == bar.bytes();
        if ((r.u32(4) & CAPS) == 0) {
            assertTrue(whole, "no sparse areas, but the whole region is not mappable");
            return;
        }
        int at = (int) r.u32(12);
        assertEquals(INFO, at, "cap_offset");
        assertEquals(1, r.u16(at), "id: sparse mmap");
        assertEquals(1, r.u16(at + 2), "version");
        assertEquals(0, r.u32(at + 4), "next");
        assertEquals(areas.size(), r.u32(at + 8), "nr_areas");
        assertEquals(0, r.u32(at + 12), "reserved");
        for (int i = 0; i < areas.size(); i++) {
            assertEquals(areas.get(i).offset(), r.u64(at + 16 + 16 * i), "offset of area " + i);
            assertEquals(areas.get(i).bytes(), r.u64(at + 24 + 16 * i), "size of area " + i);
        }
        assertEquals(at + 16 + 16L * areas.size(), r.u32(0), "argsz");
    }

    @Test
    void theMappingAndTheMessagesShowTheSameMemory() {
        Bar bar = mappedBar();
        assumeTrue(bar != null, "the device has no mapped area");
        Bar.Area area = bar.mapped().getLast();
        RawPeer p = peer();
        try (Arena arena = Arena.ofConfined()) {
            // Three times: a server that closes what it sends cannot answer again (libvfio-user#472).
            MemorySegment first = map(p, bar, area, arena);
            MemorySegment second = map(p, bar, area, arena);
            p.ok(Message.write32(bar.index(), area.offset() + area.bytes() - 4, 0xfeedf00dL));
            assertEquals(0xfeedf00d, first.get(ValueLayout.JAVA_INT, area.bytes() - 4));
            assertEquals(0xfeedf00d, second.get(ValueLayout.JAVA_INT, area.bytes() - 4));
            first.set(ValueLayout.JAVA_INT, area.bytes() - 4, 0x12345678);
            Received r = p.ok(Message.read(bar.index(), area.offset() + area.bytes() - 4, 4));
            assertEquals(0x12345678, r.u32(16));
            p.close();
            MemorySegment third = map(peer(), bar, area, arena);
            assertEquals(area.bytes(), third.byteSize());
            first.set(ValueLayout.JAVA_INT, area.bytes() - 4, 0);
        }
    }

    private static MemorySegment map(RawPeer p, Bar bar, Bar.Area area, Arena arena) {
        Received r = p.ok(Message.getRegionInfo(4096, bar.index()));
        assertEquals(1, r.fds().length, "descriptors");
        return Fds.map(r.fds()[0], r.u64(24) + area.offset(), area.bytes(), arena);
    }
}
