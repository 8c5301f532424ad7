// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.vfiouser.pci.PciFunction;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** REGION_READ: configuration space, BARs, and what lies outside them. */
final class RegionReadTest extends ConformanceTest {
    @Test
    void theReplyRepeatsTheRequestAndCarriesTheData() {
        RawPeer p = peer();
        PciFunction f = system.function();
        Message m = Message.read(Wire.CONFIG_REGION, 0, 4);
        assertArrayEquals(
                Message.command(Wire.REGION_READ)
                        .id(m.id())
                        .flags(Wire.REPLY)
                        .u64(0)
                        .u32(Wire.CONFIG_REGION)
                        .u32(4)
                        .u16(f.vendorId())
                        .u16(f.deviceId())
                        .toBytes(),
                p.call(m).bytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8, 3, 16, 64, 255, 256, 4096})
    void configurationSpaceIsReadInAnyLength(int count) {
        RawPeer p = peer();
        byte[] all = p.ok(Message.read(Wire.CONFIG_REGION, 0, 4096)).payload();
        byte[] part = p.ok(Message.read(Wire.CONFIG_REGION, 0, count)).payload();
        assertEquals(16 + count, part.length);
        assertArrayEquals(Arrays.copyOfRange(all, 16, 16 + count), Arrays.copyOfRange(part, 16, part.length));
    }

    @Test
    void anyOffsetAndLengthOfConfigurationSpaceAgree() {
        RawPeer p = peer();
        byte[] all = p.ok(Message.read(Wire.CONFIG_REGION, 0, 256)).payload();
        for (int offset = 0; offset < 256; offset++) {
            for (int count = 1; count <= 8 && offset + count <= 256; count++) {
                byte[] part =
                        p.ok(Message.read(Wire.CONFIG_REGION, offset, count)).payload();
                assertArrayEquals(
                        Arrays.copyOfRange(all, 16 + offset, 16 + offset + count),
                        Arrays.copyOfRange(part, 16, part.length),
                        "offset " + offset + ", count " + count);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8})
    void aRegisterIsReadBack(int width) {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        p.ok(Message.write32(s.bar(), s.offset(), 0x44332211L));
        byte[] expected = {0x11, 0x22, 0x33, 0x44};
        byte[] got = p.ok(Message.read(s.bar(), s.offset(), width)).payload();
        assertEquals(16 + width, got.length);
        int n = Math.min(width, 4);
        assertArrayEquals(Arrays.copyOf(expected, n), Arrays.copyOfRange(got, 16, 16 + n));
    }

    @Test
    void accessesThatAreNotNaturallyAlignedAreAnswered() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        for (int count : new int[] {3, 5, 6, 7, 12, 64}) {
            for (int skew = 0; skew < 4; skew++) {
                Received r = p.call(Message.read(s.bar(), s.offset() + skew, count));
                assertEquals(Wire.REPLY, r.flags() & 0xf);
                assertEquals((r.flags() & Wire.ERROR) != 0 ? 16 : 32 + count, r.bytes().length);
            }
        }
        p.nothingPending();
    }

    @ParameterizedTest
    @CsvSource({
        // offset and count against a configuration space of 4096 bytes
        "4096, 1",
        "4095, 2",
        "0, 4097",
        "0xffffffffffffffff, 1",
        "0xffffffffffffffff, 2",
        "0xfffffffffffffffc, 4",
        "0x8000000000000000, 4",
        "0x7fffffffffffffff, 1",
        "0x100000000, 4",
        "0, 0x100001",
        "0, 0x7fffffff",
        "0, 0xffffffff",
        "4, 0xffffffff",
    })
    void outsideTheRegionIsEinval(String offset, String count) {
        RawPeer p = peer();
        Message m = Message.command(Wire.REGION_READ)
                .u64(Long.parseUnsignedLong(hex(offset), 16))
                .u32(Wire.CONFIG_REGION)
                .u32(Long.decode(count));
        p.fails(Wire.EINVAL, m);
        p.nothingPending();
    }

    @Test
    void outsideABarIsEinval() {
        RawPeer p = peer();
        for (var bar : system.function().bars()) {
            p.fails(Wire.EINVAL, Message.read(bar.index(), bar.bytes(), 4));
            p.fails(Wire.EINVAL, Message.read(bar.index(), bar.bytes() - 2, 4));
            p.fails(Wire.EINVAL, Message.read(bar.index(), -4, 4));
            p.fails(Wire.EINVAL, Message.read(bar.index(), Long.MIN_VALUE, 4));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 8, 9, 99, 0x7fffffff, 0x80000000, -1, 0xdeadbeef})
    void aRegionThatIsNotThereIsEinval(int region) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.read(region, 0, 4));
        p.nothingPending();
    }

    @Test
    void theUpperHalvesOfBarsAreNoRegions() {
        RawPeer p = peer();
        for (int i = 1; i < 6; i += 2) {
            p.fails(Wire.EINVAL, Message.read(i, 0, 4));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 15})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.REGION_READ).bytes(new byte[bytes]));
        p.nothingPending();
    }

    @Test
    void aReadOfNothingIsAnswered() {
        RawPeer p = peer();
        Received r = p.call(Message.read(Wire.CONFIG_REGION, 0, 0));
        assertEquals(Wire.REPLY, r.flags() & 0xf);
        p.nothingPending();
    }

    @Test
    void readsHaveNoSideEffects() {
        RawPeer p = peer();
        byte[] first = p.ok(Message.read(Wire.CONFIG_REGION, 0, 4096)).payload();
        for (int offset = 0; offset < 4096; offset += 4) {
            p.ok(Message.read(Wire.CONFIG_REGION, offset, 4));
        }
        assertArrayEquals(first, p.ok(Message.read(Wire.CONFIG_REGION, 0, 4096)).payload());
    }

    private static String hex(String number) {
        return number.startsWith("0x") ? number.substring(2) : Long.toHexString(Long.parseLong(number));
    }
}
