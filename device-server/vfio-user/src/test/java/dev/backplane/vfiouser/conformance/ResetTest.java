// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** DEVICE_RESET: power-on state, windows kept (QEMU maps memory once and resets at each reboot). */
final class ResetTest extends ConformanceTest {
    @Test
    void theReplyIsAHeaderAndNothingElse() {
        RawPeer p = peer();
        Message m = Message.reset();
        assertArrayEquals(
                Message.command(Wire.RESET).id(m.id()).flags(Wire.REPLY).toBytes(),
                p.call(m).bytes());
    }

    @Test
    void configurationSpaceReturnsToItsFirstState() {
        RawPeer p = peer();
        byte[] first = p.ok(Message.read(Wire.CONFIG_REGION, 0, 4096)).payload();
        for (int offset = 0; offset < 256; offset += 4) {
            // not the PCI Express device control register, whose FLR bit would reset by itself
            p.ok(Message.write32(Wire.CONFIG_REGION, offset, 0x00ff00ffL & 0x7fff7fffL));
        }
        p.ok(Message.reset());
        assertArrayEquals(first, p.ok(Message.read(Wire.CONFIG_REGION, 0, 4096)).payload());
    }

    @Test
    void windowsStay() {
        RawPeer p = peer();
        p.ok(Message.dmaMap(3, 0, 0x10000, 0x1000), memfd(0x1000));
        p.ok(Message.reset());
        p.ok(Message.reset());
        assertEquals(1, system.windows());
        p.ok(Message.dmaUnmap(0, 0x10000, 0x1000));
    }

    @Test
    void registersReturnToTheirFirstState() {
        RawPeer p = peer();
        SystemUnderTest.Scratch s = system.scratch();
        long first = p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16);
        p.ok(Message.write32(s.bar(), s.offset(), ~first));
        p.ok(Message.reset());
        assertEquals(first, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
    }

    @Test
    void aPayloadIsRefusedOrIgnoredButAnswered() {
        RawPeer p = peer();
        Received r = p.call(Message.command(Wire.RESET).bytes(new byte[16]));
        assertEquals(Wire.HEADER, r.bytes().length);
        p.nothingPending();
    }
}
