// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.vfiouser.pci.Bar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REGION_WRITE: registers, configuration space, and what lies outside them. */
final class RegionWriteTest extends ConformanceTest {
    private static final int COMMAND = 4;
    private static final int BAR0 = 0x10;

    @Test
    void theReplyRepeatsTheRequestWithoutTheData() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        Message m = Message.write32(s.bar(), s.offset(), 0xcafef00dL);
        assertArrayEquals(
                Message.command(Wire.REGION_WRITE)
                        .id(m.id())
                        .flags(Wire.REPLY)
                        .u64(s.offset())
                        .u32(s.bar())
                        .u32(4)
                        .toBytes(),
                p.call(m).bytes());
        assertEquals(0xcafef00dL, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
    }

    @Test
    void theCountMustMatchTheData() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        p.ok(Message.write32(s.bar(), s.offset(), 1));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.REGION_WRITE)
                        .u64(s.offset())
                        .u32(s.bar())
                        .u32(4)
                        .u16(7));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.REGION_WRITE)
                        .u64(s.offset())
                        .u32(s.bar())
                        .u32(2)
                        .u32(7));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.REGION_WRITE)
                        .u64(s.offset())
                        .u32(s.bar())
                        .u32(-1)
                        .u32(7));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.REGION_WRITE).u64(s.offset()).u32(s.bar()).u32(4));
        assertEquals(1, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16), "a refused write writes nothing");
    }

    @Test
    void outsideABarIsEinval() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            p.fails(Wire.EINVAL, Message.write32(bar.index(), bar.bytes(), 0));
            p.fails(Wire.EINVAL, Message.write32(bar.index(), bar.bytes() - 2, 0));
            p.fails(Wire.EINVAL, Message.write32(bar.index(), -4, 0));
            p.fails(Wire.EINVAL, Message.write32(bar.index(), -2, 0));
            p.fails(Wire.EINVAL, Message.write32(bar.index(), Long.MIN_VALUE, 0));
        }
        p.fails(Wire.EINVAL, Message.write32(Wire.CONFIG_REGION, 4096, 0));
        p.fails(Wire.EINVAL, Message.write32(Wire.CONFIG_REGION, 4094, 0));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 5, 6, 8, 9, 99, 0x7fffffff, -1})
    void aRegionThatIsNotThereIsEinval(int region) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.write32(region, 0, 0));
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 15})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.REGION_WRITE).bytes(new byte[bytes]));
        p.nothingPending();
    }

    @Test
    void readOnlyFieldsKeepTheirValues() {
        RawPeer p = peer();
        long ids = p.ok(Message.read(Wire.CONFIG_REGION, 0, 4)).u32(16);
        long classCode = p.ok(Message.read(Wire.CONFIG_REGION, 8, 4)).u32(16);
        long subsystem = p.ok(Message.read(Wire.CONFIG_REGION, 0x2c, 4)).u32(16);
        p.ok(Message.write32(Wire.CONFIG_REGION, 0, 0));
        p.ok(Message.write32(Wire.CONFIG_REGION, 8, -1));
        p.ok(Message.write32(Wire.CONFIG_REGION, 0x2c, 0x12345678));
        assertEquals(ids, p.ok(Message.read(Wire.CONFIG_REGION, 0, 4)).u32(16));
        assertEquals(classCode, p.ok(Message.read(Wire.CONFIG_REGION, 8, 4)).u32(16));
        assertEquals(subsystem, p.ok(Message.read(Wire.CONFIG_REGION, 0x2c, 4)).u32(16));
    }

    @Test
    void writingOnesToABarTellsItsSize() {
        RawPeer p = peer();
        for (int i = 0; i < 6; i += 2) {
            Bar bar = system.function().bar(i);
            p.ok(Message.write32(Wire.CONFIG_REGION, BAR0 + 4L * i, -1));
            p.ok(Message.write32(Wire.CONFIG_REGION, BAR0 + 4L * (i + 1), -1));
            long low = p.ok(Message.read(Wire.CONFIG_REGION, BAR0 + 4L * i, 4)).u32(16);
            long high = p.ok(Message.read(Wire.CONFIG_REGION, BAR0 + 4L * (i + 1), 4))
                    .u32(16);
            if (bar == null) {
                assertEquals(0, low, "BAR " + i + ", which is not there");
                assertEquals(0, high);
            } else {
                assertEquals(bar.prefetchable() ? 0xc : 4, low & 0xf, "type bits of BAR " + i);
                assertEquals(-bar.bytes(), (high << 32) | (low & ~0xfL), "size mask of BAR " + i);
            }
            p.ok(Message.write32(Wire.CONFIG_REGION, BAR0 + 4L * i, 0));
            p.ok(Message.write32(Wire.CONFIG_REGION, BAR0 + 4L * (i + 1), 0));
        }
    }

    @Test
    void theCommandRegisterKeepsWhatADriverSets() {
        RawPeer p = peer();
        p.ok(Message.command(Wire.REGION_WRITE)
                .u64(COMMAND)
                .u32(Wire.CONFIG_REGION)
                .u32(2)
                .u16(0x406));
        assertEquals(0x406, p.ok(Message.read(Wire.CONFIG_REGION, COMMAND, 2)).u16(16) & 0x406);
        p.ok(Message.command(Wire.REGION_WRITE)
                .u64(COMMAND)
                .u32(Wire.CONFIG_REGION)
                .u32(2)
                .u16(0));
        assertEquals(0, p.ok(Message.read(Wire.CONFIG_REGION, COMMAND, 2)).u16(16) & 0x406);
    }

    @Test
    void aLongWriteToConfigurationSpaceIsAnswered() {
        RawPeer p = peer();
        p.ok(Message.write(Wire.CONFIG_REGION, 0, new byte[256]));
        assertEquals(
                system.function().vendorId(),
                p.ok(Message.read(Wire.CONFIG_REGION, 0, 2)).u16(16));
    }
}
