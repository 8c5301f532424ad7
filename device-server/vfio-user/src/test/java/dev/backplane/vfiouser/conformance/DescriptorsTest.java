// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Descriptors that come with bad messages are closed, however many (libvfio-user#120, #284; CVE-2019-14818; spdk#2852). */
final class DescriptorsTest extends ConformanceTest {
    private static final int MOST = 253;

    @Test
    void tenThousandBadMessagesLeakNothing() {
        RawPeer p = peer();
        int event = eventfd();
        int file = memfd(0x1000);
        int[] pair = Fds.socketPair();
        keep(pair[0]);
        keep(pair[1]);
        int before = Fds.count();
        Message none = Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.MSIX, 0, 1);
        Message map = Message.dmaMap(3, 0, 0x1000, 0);
        Message unknown = Message.command(99).bytes(new byte[64]);
        Message unmappable = Message.dmaMap(3, 0, 0x1000, 0x1000);
        int[] eight = new int[8];
        Arrays.fill(eight, event);
        for (int i = 0; i < 2500; i++) {
            p.sendQuietly(none, event, event);
            p.sendQuietly(map, file);
            p.sendQuietly(unknown, eight);
            p.sendQuietly(unmappable, pair[0]);
            for (Message m : new Message[] {none, map, unknown, unmappable}) {
                Received r = p.answer(m);
                assertEquals(Wire.REPLY | Wire.ERROR, r.flags(), "command " + m.command());
            }
        }
        assertEquals(before, Fds.count(), "open descriptors");
        assertEquals(0, system.windows());
        p.nothingPending();
    }

    @Test
    void moreDescriptorsThanAgreedAreRefusedAndClosed() {
        int event = eventfd();
        for (int n : new int[] {9, 17, 64, MOST}) {
            RawPeer p = peer();
            int before = Fds.count();
            int[] fds = new int[n];
            Arrays.fill(fds, event);
            Message m = Message.getInfo();
            p.send(m, fds);
            p.endOfStream();
            byte[] answer = p.readToEnd();
            assertTrue(
                    answer.length == 0 || answer.length == Wire.HEADER || answer.length == 2 * Wire.HEADER,
                    "bytes of the answer: " + answer.length);
            int after = Fds.awaitCount(before - 1);
            assertTrue(after <= before, "open descriptors: " + before + " before, " + after + " after");
            p.close();
            RawPeer next = peer();
            next.nothingPending();
            next.close();
        }
    }

    @Test
    void aFloodOfDescriptorsBeforeTheNegotiationLeaksNothing() {
        int event = eventfd();
        peer().close();
        int before = Fds.count();
        for (int i = 0; i < 200; i++) {
            RawPeer p = RawPeer.connect(system.socket());
            int[] fds = new int[1 + i % MOST];
            Arrays.fill(fds, event);
            p.send(Message.command(i % 20).bytes(new byte[i % 64]), fds);
            p.endOfStream();
            p.readToEnd();
            p.close();
        }
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors");
    }

    @Test
    void descriptorsOfAHalfMessageAreClosedWithTheConnection() {
        int event = eventfd();
        peer().close();
        int before = Fds.count();
        for (int i = 0; i < 100; i++) {
            RawPeer p = RawPeer.negotiated(system.socket());
            byte[] set = Message.setIrqs(Wire.IRQ_EVENTFD | Wire.IRQ_TRIGGER, Wire.MSIX, 0, 1)
                    .toBytes();
            p.sendBytes(Arrays.copyOf(set, 1 + i % (set.length - 1)), event);
            p.close();
        }
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors");
    }

    @Test
    void manyInOneMessageOrOneInManyAreHeldOnce() {
        RawPeer p = peer();
        int file = memfd(256 * 0x1000);
        int before = Fds.count();
        for (int i = 0; i < 256; i++) {
            p.ok(Message.dmaMap(3, i * 0x1000L, i * 0x2000L, 0x1000), file);
        }
        assertTrue(
                Fds.count() <= before + 1, "descriptors held for 256 windows of one file: " + (Fds.count() - before));
        p.ok(Message.dmaUnmap(Wire.UNMAP_ALL, 0, 0));
        assertEquals(before, Fds.count(), "open descriptors");
    }
}
