// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.pci.Bar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_GET_REGION_IO_FDS and its corners (libvfio-user#606, #607, #699, #785). */
final class GetRegionIoFdsTest extends ConformanceTest {
    @Test
    void aRegionAnswersWithItsSubRegions() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            Received r = p.ok(Message.getRegionIoFds(4096, bar.index()));
            assertEquals(bar.index(), r.u32(8), "index");
            assertEquals(0, r.u32(4), "flags");
            assertEquals(r.bytes().length - Wire.HEADER, r.u32(0), "argsz is the size of the reply");
            assertEquals(16 + 40 * r.u32(12), r.u32(0), "40 bytes for each sub-region");
            if (r.u32(12) == 0) {
                assertEquals(0, r.fds().length);
            } else {
                assertTrue(r.fds().length >= 1, "descriptors");
            }
            for (int i = 0; i < r.u32(12); i++) {
                int at = 16 + 40 * i;
                assertTrue(r.u64(at) + r.u64(at + 8) <= bar.bytes(), "sub-region inside its region");
                assertTrue(r.u32(at + 16) < r.fds().length, "fd_index");
            }
        }
    }

    @Test
    void aSmallBufferGetsTheSizeThatIsNeeded() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            long needed = p.ok(Message.getRegionIoFds(4096, bar.index())).u32(0);
            Received r = p.ok(Message.getRegionIoFds(16, bar.index()));
            assertEquals(needed, r.u32(0), "argsz");
            assertEquals(Wire.HEADER + 16, r.bytes().length);
            assertEquals(0, r.fds().length);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 8, 9, 99, 0x7fffffff, -1})
    void aRegionThatIsNotThereIsEinval(int index) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.getRegionIoFds(4096, index));
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 15})
    void aSmallArgszIsEinval(long argsz) {
        peer().fails(Wire.EINVAL, Message.getRegionIoFds(argsz, 0));
    }

    @Test
    void flagsAndCountMustBeZero() {
        RawPeer p = peer();
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.GET_REGION_IO_FDS).u32(4096).u32(1).u32(0).u32(0));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.GET_REGION_IO_FDS).u32(4096).u32(0).u32(0).u32(1));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 15})
    void aShortPayloadIsEinval(int bytes) {
        peer().fails(Wire.EINVAL, Message.command(Wire.GET_REGION_IO_FDS).bytes(new byte[bytes]));
    }
}
