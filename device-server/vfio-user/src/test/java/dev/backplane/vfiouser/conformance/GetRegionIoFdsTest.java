// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.pci.Bar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_GET_REGION_IO_FDS and its corners (libvfio-user#606, #607, #699, #785). */
final class GetRegionIoFdsTest extends ConformanceTest {
    private static final int MAX_MSG_FDS = 16;
    private static final int SHADOW = 2;

    @Test
    void aRegionAnswersWithItsSubRegions() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            Received r = p.ok(Message.getRegionIoFds(4096, bar.index()));
            assertEquals(bar.index(), r.u32(8), "index");
            assertEquals(0, r.u32(4), "flags");
            assertEquals(r.bytes().length - Wire.HEADER, r.u32(0), "argsz is the size of the reply");
            int count = (int) r.u32(12);
            if (count == 0) {
                assertEquals(16, r.u32(0), "argsz without sub-regions");
                assertEquals(0, r.fds().length);
                continue;
            }
            assertTrue(r.fds().length >= 1 && r.fds().length <= MAX_MSG_FDS, "descriptors: " + r.fds().length);
            int entry = ((int) r.u32(0) - 16) / count; // not to be relied on to be 40 (specification)
            assertEquals(16 + entry * count, r.u32(0), "entries of one size");
            for (int i = 0; i < count; i++) {
                int at = 16 + entry * i;
                assertTrue(r.u64(at) + r.u64(at + 8) <= bar.bytes(), "sub-region inside its region");
                assertTrue(r.u32(at + 16) < r.fds().length, "fd_index");
                boolean shadow = r.u32(at + 20) == SHADOW;
                assertTrue(r.u32(at + 20) == 0 || shadow, "type");
                assertTrue(entry == 40 ? !shadow : entry == 48, "size of an entry: " + entry);
                assertTrue(!shadow || r.u32(at + 28) < r.fds().length, "shadow_mem_fd_index");
                assertEquals(0, r.u32(at + 24) & ~1, "flags");
            }
        }
    }

    @Test
    void theSameDescriptorsComeEachTime() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            p.ok(Message.getRegionIoFds(4096, bar.index()));
            int held = Fds.count();
            Received again = p.ok(Message.getRegionIoFds(4096, bar.index()));
            assertEquals(held + again.fds().length, Fds.count(), "only what this peer received is new");
        }
    }

    @Test
    void aPeerIsOfferedNoMoreThanItTakes() {
        RawPeer p = connect();
        p.ok(Message.version("{\"capabilities\":{\"max_msg_fds\":2}}"));
        for (Bar bar : system.function().bars()) {
            Received r = p.ok(Message.getRegionIoFds(4096, bar.index()));
            assertTrue(r.fds().length <= 2, "descriptors: " + r.fds().length);
        }
        p.nothingPending();
    }

    @Test
    void signalsInAnyNumberDoNotHoldUpMessages() {
        RawPeer p = peer();
        for (Bar bar : system.function().bars()) {
            Received r = p.ok(Message.getRegionIoFds(4096, bar.index()));
            for (int fd : r.fds()) {
                if (EventFd.isEventFd(fd)) {
                    Fds.fill(fd); // the counter at its limit
                }
            }
            p.nothingPending();
            for (int fd : r.fds()) {
                if (EventFd.isEventFd(fd)) {
                    assertEquals(0, Fds.take(fd), "the server has taken the signals");
                }
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
