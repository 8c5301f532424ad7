// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Command numbers that are no command, or none that a client may send (rust-vmm/vfio#142). */
final class UnknownCommandTest extends ConformanceTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 14, 19, 20, 255, 256, 0x7fff, 0x8000, 0xffff, Wire.DMA_READ, Wire.DMA_WRITE})
    void isRefusedWithPayloadAndDescriptorsAndWithout(int command) {
        RawPeer p = peer();
        int e = eventfd();
        int before = Fds.count();
        refused(p, Message.command(command));
        refused(p, Message.command(command).bytes(new byte[48]));
        refused(p, Message.command(command).bytes(new byte[64]), e);
        refused(p, Message.command(command).bytes(new byte[64]), e, e, e, e, e, e, e, e);
        p.send(Message.command(command).bytes(new byte[64]).posted(), e);
        p.nothingPending();
        assertEquals(before, Fds.count(), "open descriptors");
    }

    private static void refused(RawPeer p, Message m, int... fds) {
        Received r = p.call(m, fds);
        assertEquals(Wire.REPLY | Wire.ERROR, r.flags());
        assertEquals(Wire.HEADER, r.bytes().length);
        assertTrue(r.error() == Wire.EINVAL || r.error() == Wire.ENOTSUP, "errno " + r.error());
        p.nothingPending();
    }
}
