// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands sent without waiting are answered in order, whatever their ids (QEMU pipelines its memory transactions). */
final class PipeliningTest extends ConformanceTest {
    @Test
    void sixtyFourMapsAreAnsweredInOrder() {
        RawPeer p = peer();
        int fd = memfd(64 * 0x1000);
        List<Message> sent = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            Message m = Message.dmaMap(3, i * 0x1000L, i * 0x10000L, 0x1000);
            p.send(m, fd);
            sent.add(m);
        }
        for (Message m : sent) {
            assertEquals(Wire.REPLY, p.answer(m).flags());
        }
        assertEquals(64, system.windows());
    }

    @Test
    void mapsAndUnmapsOfTheSameRangeTakeEffectInOrder() {
        RawPeer p = peer();
        int fd = memfd(0x1000);
        List<Message> sent = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Message map = Message.dmaMap(3, 0, 0xc0000, 0x1000);
            Message unmap = Message.dmaUnmap(0, 0xc0000, 0x1000);
            p.send(map, fd).send(unmap);
            sent.add(map);
            sent.add(unmap);
        }
        for (Message m : sent) {
            assertEquals(Wire.REPLY, p.answer(m).flags());
        }
        assertEquals(0, system.windows());
    }

    @Test
    void idsBelongToTheSender() {
        RawPeer p = peer();
        for (int i = 0; i < 32; i++) {
            p.send(Message.read(Wire.CONFIG_REGION, i, 1).id(7));
        }
        for (int i = 0; i < 32; i++) {
            Received r = p.receive();
            assertEquals(7, r.id());
            assertEquals(i, r.u64(0), "offset of the answer");
        }
        for (int id : new int[] {0, 1, 0x7fff, 0x8000, 0xffff}) {
            assertEquals(id, p.call(Message.getInfo().id(id)).id());
        }
    }

    @Test
    void failuresKeepTheirPlace() {
        RawPeer p = peer();
        List<Message> sent = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Message m = i % 3 == 1
                    ? Message.read(99, 0, 4)
                    : i % 3 == 2 ? Message.command(999).bytes(new byte[8]) : Message.getIrqInfo(i % 5);
            p.send(m);
            sent.add(m);
        }
        for (int i = 0; i < 30; i++) {
            Received r = p.answer(sent.get(i));
            assertEquals(i % 3 == 0 ? Wire.REPLY : Wire.REPLY | Wire.ERROR, r.flags());
        }
    }
}
