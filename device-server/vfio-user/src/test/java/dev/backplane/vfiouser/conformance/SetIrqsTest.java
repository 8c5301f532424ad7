// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_SET_IRQS: every form of data and action, and every message that is none (libvfio-user#359, #364, #386, #388). */
final class SetIrqsTest extends ConformanceTest {
    private static final int SET = Wire.IRQ_EVENTFD | Wire.IRQ_TRIGGER;
    private static final int FIRE = Wire.IRQ_NONE | Wire.IRQ_TRIGGER;
    private static final int FIRE_SOME = Wire.IRQ_BOOL | Wire.IRQ_TRIGGER;

    private int vectors;

    @BeforeEach
    void vectors() {
        vectors =
                system.function().msix() == null ? 0 : system.function().msix().vectors();
        assumeTrue(vectors >= 2, "the device has fewer than two MSI-X vectors");
    }

    @Test
    void theReplyIsAHeaderAndNothingElse() {
        RawPeer p = peer();
        Message m = Message.setIrqs(SET, Wire.MSIX, 0, 1);
        Received r = p.call(m, eventfd());
        assertArrayEquals(
                Message.command(Wire.SET_IRQS).id(m.id()).flags(Wire.REPLY).toBytes(), r.bytes());
    }

    @Test
    void triggerWithoutDataFires() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 2), e0, e1);
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 2));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 1, 1));
        assertEquals(1, Fds.take(e0));
        assertEquals(2, Fds.take(e1));
    }

    @Test
    void triggerWithBooleansFiresTheTrueOnes() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 2), e0, e1);
        p.ok(Message.setIrqs(FIRE_SOME, Wire.MSIX, 0, 2, (byte) 0, (byte) 1));
        assertEquals(0, Fds.take(e0));
        assertEquals(1, Fds.take(e1));
    }

    @Test
    void countZeroDisablesAll() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        int before = Fds.count();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 2), e0, e1);
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 0));
        assertEquals(before, Fds.count(), "open descriptors");
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 2));
        assertEquals(0, Fds.take(e0));
        assertEquals(0, Fds.take(e1));
    }

    @Test
    void disablingWhatIsNotEnabledIsFine() {
        RawPeer p = peer();
        for (int index = 0; index < 5; index++) {
            p.ok(Message.setIrqs(FIRE, index, 0, 0));
        }
    }

    @Test
    void eventfdWithoutDescriptorsReleasesTheRange() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 2), e0, e1);
        p.ok(Message.setIrqs(SET, Wire.MSIX, 1, 1));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 2));
        assertEquals(1, Fds.take(e0));
        assertEquals(0, Fds.take(e1));
    }

    @Test
    void aRunOfEmptySlotsIsOneMessageWithoutDescriptors() {
        assumeTrue(vectors >= 9, "fewer than 9 vectors");
        RawPeer p = peer();
        int[] fds = new int[9];
        for (int i = 0; i < fds.length; i++) {
            fds[i] = eventfd();
            p.ok(Message.setIrqs(SET, Wire.MSIX, i, 1), fds[i]);
        }
        p.ok(Message.setIrqs(SET, Wire.MSIX, 4, 5));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 9));
        for (int i = 0; i < fds.length; i++) {
            assertEquals(i < 4 ? 1 : 0, Fds.take(fds[i]), "vector " + i);
        }
    }

    @Test
    void aVectorCanBeGivenAnotherDescriptor() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        int before = Fds.count();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e1);
        assertEquals(before + 1, Fds.count(), "open descriptors: the server keeps one");
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 1));
        assertEquals(0, Fds.take(e0));
        assertEquals(1, Fds.take(e1));
    }

    @Test
    void eachTypeHasItsOwnDescriptors() {
        RawPeer p = peer();
        int err = eventfd();
        int req = eventfd();
        int msix = eventfd();
        p.ok(Message.setIrqs(SET, Wire.ERR, 0, 1), err);
        p.ok(Message.setIrqs(SET, Wire.REQ, 0, 1), req);
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), msix);
        p.ok(Message.setIrqs(FIRE, Wire.ERR, 0, 1));
        assertArrayEquals(new long[] {1, 0, 0}, new long[] {Fds.take(err), Fds.take(req), Fds.take(msix)});
        p.ok(Message.setIrqs(FIRE, Wire.REQ, 0, 1));
        assertArrayEquals(new long[] {0, 1, 0}, new long[] {Fds.take(err), Fds.take(req), Fds.take(msix)});
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 1));
        assertArrayEquals(new long[] {0, 0, 1}, new long[] {Fds.take(err), Fds.take(req), Fds.take(msix)});
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 0));
        p.ok(Message.setIrqs(FIRE, Wire.ERR, 0, 1));
        p.ok(Message.setIrqs(FIRE, Wire.REQ, 0, 1));
        assertArrayEquals(new long[] {1, 1, 0}, new long[] {Fds.take(err), Fds.take(req), Fds.take(msix)});
    }

    @ParameterizedTest
    @CsvSource({
        // flags, index, start, count
        "0x00, 2, 0, 1", // neither data nor action
        "0x20, 2, 0, 1", // no data type
        "0x01, 2, 0, 1", // no action
        "0x23, 2, 0, 1", // two data types
        "0x27, 2, 0, 1",
        "0x31, 2, 0, 1", // two actions
        "0x39, 2, 0, 1",
        "0x61, 2, 0, 1", // unknown bit
        "0x80000021, 2, 0, 1",
        "0x21, 5, 0, 1", // unknown index
        "0x21, 0x7fffffff, 0, 1",
        "0x21, 0xffffffff, 0, 1",
        "0x21, 2, 0xffffffff, 1", // start
        "0x21, 2, 0xffffffff, 2", // wraps
        "0x21, 2, 1, 0xffffffff",
        "0x21, 2, 0, 0xffffffff",
        "0x21, 2, 0x80000000, 0x80000000",
        "0x21, 2, 0, 2049", // more than any table has
        "0x21, 2, 1, 0", // count 0 with a start
        "0x22, 2, 0, 0", // count 0 only with NONE and TRIGGER
        "0x24, 2, 0, 0",
        "0x09, 2, 0, 0",
        "0x11, 2, 0, 0",
        "0x09, 3, 0, 1", // ERR and REQ take TRIGGER only
        "0x11, 4, 0, 1",
        "0x21, 3, 0, 2", // and there is one of each
        "0x21, 4, 1, 1",
        "0x21, 1, 0, 1", // MSI, which the device has not
    })
    void whatIsNoValidFormIsEinval(String flags, String index, String start, String count) {
        RawPeer p = peer();
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e);
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.SET_IRQS)
                        .u32(20)
                        .u32(Long.decode(flags))
                        .u32(Long.decode(index))
                        .u32(Long.decode(start))
                        .u32(Long.decode(count)));
        assertEquals(0, Fds.take(e), "a refused message fires nothing");
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 1));
        assertEquals(1, Fds.take(e), "and takes nothing away");
    }

    @Test
    void theRangeMustLieInsideTheTable() {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE, Wire.MSIX, vectors, 1));
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE, Wire.MSIX, vectors - 1, 2));
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE, Wire.MSIX, 0, vectors + 1));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, vectors - 1, 1));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, vectors));
    }

    @Test
    void theBooleansMustMatchTheCount() {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE_SOME, Wire.MSIX, 0, 2, (byte) 1));
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE_SOME, Wire.MSIX, 0, 2));
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE_SOME, Wire.MSIX, 0, 2, new byte[3]));
    }

    @Test
    void theDescriptorsMustMatchTheCount() {
        RawPeer p = peer();
        int e0 = eventfd();
        int e1 = eventfd();
        int before = Fds.count();
        p.fails(Wire.EINVAL, Message.setIrqs(SET, Wire.MSIX, 0, 2), e0);
        p.fails(Wire.EINVAL, Message.setIrqs(SET, Wire.MSIX, 0, 1), e0, e1);
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE, Wire.MSIX, 0, 1), e0);
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE, Wire.MSIX, 0, 0), e0);
        p.fails(Wire.EINVAL, Message.setIrqs(FIRE_SOME, Wire.MSIX, 0, 1, (byte) 1), e0);
        assertEquals(before, Fds.count(), "open descriptors");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 19})
    void aSmallArgszIsEinval(int argsz) {
        peer().fails(
                        Wire.EINVAL,
                        Message.command(Wire.SET_IRQS)
                                .u32(argsz)
                                .u32(FIRE)
                                .u32(Wire.MSIX)
                                .u32(0)
                                .u32(1));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 19})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.SET_IRQS).bytes(new byte[bytes]), eventfd());
        p.nothingPending();
    }

    @Test
    void aFullCounterDoesNotBlockTheServer() {
        RawPeer p = peer();
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e);
        Fds.fill(e);
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 1));
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, 1));
        p.nothingPending();
    }

    @Test
    void manyVectorsComeInManyMessages() {
        RawPeer p = peer();
        int[] fds = new int[vectors];
        for (int i = 0; i < vectors; i++) {
            fds[i] = eventfd();
        }
        int step = 8;
        for (int i = 0; i < vectors; i += step) {
            int n = Math.min(step, vectors - i);
            p.ok(Message.setIrqs(SET, Wire.MSIX, i, n), java.util.Arrays.copyOfRange(fds, i, i + n));
        }
        p.ok(Message.setIrqs(FIRE, Wire.MSIX, 0, vectors));
        for (int i = 0; i < vectors; i++) {
            assertEquals(1, Fds.take(fds[i]), "vector " + i);
        }
    }
}
