// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** An error reply is 16 bytes: same id, same command, size 16, flags Reply and Error, an errno (rust-vmm/vfio#143). */
final class ErrorReplyTest extends ConformanceTest {
    @Test
    void theyAreGolden() {
        RawPeer p = peer();
        p.send(Message.getRegionInfo(32, 99).id(0xbeef));
        assertEquals(
                "efbe0500" + "10000000" + "21000000" + "16000000", p.receive().hex());
        p.send(Message.dmaUnmap(0, 0x1000, 0x1000).id(0x0102));
        assertEquals(
                "02010300" + "10000000" + "21000000" + "02000000", p.receive().hex());
    }

    @Test
    void everyCommandCanFail() {
        RawPeer p = peer();
        List<Message> bad = List.of(
                Message.version("{}"),
                Message.dmaMap(-1, 0, 0, 0x1000),
                Message.dmaUnmap(-1, 0, 0),
                Message.command(Wire.GET_INFO).bytes(new byte[4]),
                Message.getRegionInfo(32, -1),
                Message.getRegionIoFds(16, -1),
                Message.getIrqInfo(-1),
                Message.setIrqs(0, 0, 0, 0),
                Message.read(-1, 0, 4),
                Message.write32(-1, 0, 4),
                Message.command(Wire.REGION_WRITE_MULTI).u64(-1),
                Message.feature(8, Wire.FEATURE_GET | 0xffff),
                Message.command(Wire.MIG_DATA_READ).u32(0).u32(0),
                Message.command(Wire.MIG_DATA_WRITE).u32(0).u32(8));
        for (Message m : bad) {
            p.fails(Wire.EINVAL, m);
        }
        p.nothingPending();
    }
}
