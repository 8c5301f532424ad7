// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages that come in pieces, glued together, or not whole, and descriptors in odd places (libvfio-user#414, #415,
 * #416, #422; netty#16568, #16872).
 */
final class FramingTest extends ConformanceTest {
    private static final int SET = Wire.IRQ_EVENTFD | Wire.IRQ_TRIGGER;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 15, 16, 17, 31})
    void aMessageMayComeInPieces(int step) {
        RawPeer p = connect();
        Message version = Message.version("{\"capabilities\":{\"max_msg_fds\":8}}");
        p.sendInPieces(version.toBytes(), step, -1);
        assertEquals(Wire.REPLY, p.answer(version).flags());
        SystemUnderTest.Scratch s = system.scratch();
        for (Message m : List.of(
                Message.write32(s.bar(), s.offset(), 0x1234),
                Message.getRegionInfo(4096, 0),
                Message.getInfo(),
                Message.dmaMap(3, 0, 0x1000, 0x1000),
                Message.read(s.bar(), s.offset(), 4))) {
            p.sendInPieces(m.toBytes(), step, -1);
            assertEquals(Wire.REPLY, p.answer(m).flags());
        }
        assertTrue(!p.readable(0));
    }

    @Test
    void thereMayBeAPauseAtEveryByte() {
        RawPeer p = peer();
        byte[] read = Message.read(Wire.CONFIG_REGION, 0, 4).toBytes();
        for (int k = 1; k < read.length; k++) {
            p.sendBytes(java.util.Arrays.copyOf(read, k));
            // long enough that the server has stopped spinning and sleeps in the middle of the message
            assertTrue(!p.readable(2), "an answer to half a message");
            p.sendBytes(java.util.Arrays.copyOfRange(read, k, read.length));
            assertEquals(Wire.REPLY, p.receive().flags());
        }
    }

    @Test
    void manyMessagesMayComeAtOnce() {
        RawPeer p = peer();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Message m = i % 5 == 4 ? Message.getRegionInfo(32, 99) : Message.read(Wire.CONFIG_REGION, i % 64, 4);
            messages.add(m);
            all.writeBytes(m.toBytes());
        }
        p.sendBytes(all.toByteArray());
        for (Message m : messages) {
            if (m.command() == Wire.GET_REGION_INFO) {
                p.answerFails(Wire.EINVAL, m);
            } else {
                assertEquals(Wire.REPLY, p.answer(m).flags());
            }
        }
        p.nothingPending();
    }

    @Test
    void gluedMessagesMayBeCutAnywhere() {
        RawPeer p = peer();
        Message a = Message.read(Wire.CONFIG_REGION, 0, 4);
        Message b = Message.getInfo();
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(a.toBytes());
        both.writeBytes(b.toBytes());
        byte[] bytes = both.toByteArray();
        for (int k = 1; k < bytes.length; k++) {
            p.sendBytes(java.util.Arrays.copyOf(bytes, k));
            p.sendBytes(java.util.Arrays.copyOfRange(bytes, k, bytes.length));
            assertEquals(Wire.REPLY, p.answer(a).flags());
            assertEquals(Wire.REPLY, p.answer(b).flags());
        }
    }

    @Test
    void eachDescriptorGoesToItsOwnMessage() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        Message plain = Message.getInfo();
        Message first = Message.setIrqs(SET, Wire.ERR, 0, 1);
        Message second = Message.setIrqs(SET, Wire.REQ, 0, 1);
        // all in the socket's buffer before the server may look: bytes, bytes and a descriptor, twice
        p.send(plain).send(first, e0).send(plain).send(plain).send(second, e1).send(plain);
        for (Message m : List.of(plain, first, plain, plain, second, plain)) {
            assertEquals(Wire.REPLY, p.answer(m).flags(), "command " + m.command());
        }
        p.ok(Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.ERR, 0, 1));
        assertEquals(1, Fds.take(e0));
        assertEquals(0, Fds.take(e1));
        p.ok(Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.REQ, 0, 1));
        assertEquals(0, Fds.take(e0));
        assertEquals(1, Fds.take(e1));
    }

    @Test
    void descriptorsBelongToTheMessageThatBeginsInTheirBytes() {
        RawPeer p = peer();
        int e0 = eventfd();
        Message plain = Message.getInfo();
        Message set = Message.setIrqs(SET, Wire.ERR, 0, 1);
        ByteArrayOutputStream glued = new ByteArrayOutputStream();
        glued.writeBytes(plain.toBytes());
        glued.writeBytes(set.toBytes());
        // one sendmsg with both messages: only the second can want the descriptor, and is the last to begin in it
        p.sendBytes(glued.toByteArray(), e0);
        Received a = p.answer(plain);
        Received b = p.answer(set);
        assertEquals(Wire.REPLY, a.flags() & 0xf);
        assertEquals(Wire.REPLY, b.flags() & 0xf);
        p.nothingPending();
    }

    @Test
    void aDescriptorInTheMiddleOfAMessageLeaksNothing() {
        int e0 = eventfd();
        RawPeer first = peer();
        int before = Fds.count();
        Message set = Message.setIrqs(SET, Wire.ERR, 0, 1);
        for (int at = 1; at < set.toBytes().length; at++) {
            Received r;
            first.sendInPieces(set.toBytes(), at, at, e0);
            r = first.receive();
            assertEquals(Wire.REPLY, r.flags() & 0xf);
            first.ok(Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.ERR, 0, 0));
            assertEquals(before, Fds.count(), "open descriptors, descriptor at byte " + at);
        }
    }

    @Test
    void theStreamMayEndAtEveryByte() throws InterruptedException {
        byte[] map = Message.dmaMap(3, 0, 0x1000, 0x1000).toBytes();
        int fd = memfd(0x1000);
        peer().close();
        int before = Fds.count();
        for (int k = 0; k <= map.length; k++) {
            RawPeer p = RawPeer.negotiated(system.socket());
            if (k > 0) {
                p.sendBytes(java.util.Arrays.copyOf(map, k), fd);
            }
            p.close();
        }
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors");
        eventually("no window is left", () -> system.windows() == 0);
        peer().nothingPending();
    }

    @Test
    void theEndOfTheStreamComesAfterTheAnswers() {
        RawPeer p = peer();
        Message m = Message.read(Wire.CONFIG_REGION, 0, 4);
        p.send(m).send(m).send(m);
        p.endOfStream();
        for (int i = 0; i < 3; i++) {
            assertEquals(Wire.REPLY, p.answer(m).flags());
        }
        assertArrayEquals(new byte[0], p.readToEnd());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 15, 0x200000, 0x7fffffffL, 0x80000000L, 0xffffffffL})
    void anImpossibleSizeEndsTheConnection(long size) {
        RawPeer p = peer();
        Message m = Message.getInfo().size(size);
        p.send(m);
        refusedOrClosed(p, m);
        peer().nothingPending();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 15})
    void whatIsNeitherCommandNorExpectedReplyDoesNoHarm(int type) {
        RawPeer p = peer();
        Message m = Message.getInfo().flags(type);
        p.send(m);
        p.endOfStream();
        byte[] rest = p.readToEnd();
        assertTrue(
                rest.length == 0 || java.util.Arrays.equals(rest, error(m, Wire.EINVAL)),
                () -> "unexpected bytes " + java.util.HexFormat.of().formatHex(rest));
        peer().nothingPending();
    }

    @Test
    void aHeaderWithoutTheNecessaryPayloadIsEinval() {
        RawPeer p = peer();
        for (int command = 1; command <= 18; command++) {
            if (command != Wire.RESET) {
                Received r = p.call(Message.command(command));
                assertEquals(Wire.REPLY | Wire.ERROR, r.flags(), "command " + command);
                assertEquals(Wire.HEADER, r.bytes().length);
            }
        }
        p.nothingPending();
    }

    @Test
    void reservedFlagsAndTheErrorFieldOfACommandAreIgnored() {
        RawPeer p = peer();
        assertEquals(Wire.REPLY, p.call(Message.getInfo().error(77)).flags());
        p.nothingPending();
    }

    @Test
    void repliesAreWholeWhenTheClientReadsLate() {
        RawPeer p = peer();
        int messages = 1000;
        Message m = Message.read(Wire.CONFIG_REGION, 0, 4096);
        Thread sender = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < messages; i++) {
                p.sendQuietly(m);
            }
        });
        // 4 MiB of answers do not fit any socket buffer: the server has to wait for us and must cut no header
        for (int i = 0; i < messages; i++) {
            Received r = p.receive();
            assertEquals(Wire.REPLY, r.flags());
            assertEquals(16 + 16 + 4096, r.bytes().length);
        }
        try {
            sender.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void refusedOrClosed(RawPeer p, Message m) {
        byte[] rest = p.readToEnd();
        assertTrue(
                rest.length == 0 || java.util.Arrays.equals(rest, error(m, Wire.EINVAL)),
                () -> "unexpected bytes " + java.util.HexFormat.of().formatHex(rest));
    }

    private static byte[] error(Message m, int errno) {
        return Message.command(m.command())
                .id(m.id())
                .flags(Wire.REPLY | Wire.ERROR)
                .error(errno)
                .toBytes();
    }
}
