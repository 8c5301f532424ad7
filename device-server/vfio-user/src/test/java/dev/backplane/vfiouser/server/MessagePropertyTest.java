// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.conformance.Received;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.conformance.Wire;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** What holds for every message, whatever is in it: over a real socket, against what the specification says of it. */
final class MessagePropertyTest {
    private static final int MOST_DATA = 1 << 20;
    private static final long[] REGION_BYTES = {4096, 0, 0x10000, 0, 0x4000, 0, 0, 4096, 0};
    private static final long[] VECTORS = {1, 0, 64, 1, 1};

    private static ScratchSystem system;
    private static RawPeer peer;
    private static int[] descriptors;

    /** A command with any payload, made of fields, and descriptors. */
    record Any(int command, int type, boolean posted, List<Integer> fields, int tail, int fds) {}

    @BeforeContainer
    static void start() throws IOException {
        system = new ScratchSystem();
        peer = RawPeer.negotiated(system.socket());
        descriptors = new int[] {Fds.eventfd(), Fds.memfd(0x10000), Fds.eventfd()};
    }

    @AfterContainer
    static void stop() throws IOException {
        peer.close();
        system.close();
        for (int fd : descriptors) {
            Fds.close(fd);
        }
    }

    private static Arbitrary<Integer> field() {
        return Arbitraries.frequencyOf(
                Tuple.of(6, Arbitraries.integers().between(0, 70)),
                Tuple.of(
                        3,
                        Arbitraries.of(
                                0x1000,
                                0xfff,
                                0x10000,
                                0x40000,
                                0x10001,
                                0x20002,
                                0x50001,
                                0x100000,
                                0x100001,
                                Integer.MAX_VALUE,
                                Integer.MIN_VALUE,
                                -1,
                                -4096)),
                Tuple.of(1, Arbitraries.integers()));
    }

    @Provide
    Arbitrary<Any> messages() {
        return Combinators.combine(
                        Arbitraries.integers().between(2, 20), // but for another negotiation
                        Arbitraries.frequencyOf(
                                Tuple.of(15, Arbitraries.just(0)),
                                Tuple.of(1, Arbitraries.integers().between(2, 15))),
                        Arbitraries.frequencyOf(
                                Tuple.of(5, Arbitraries.just(false)), Tuple.of(1, Arbitraries.just(true))),
                        field().list().ofMaxSize(14),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.frequencyOf(
                                Tuple.of(3, Arbitraries.just(0)),
                                Tuple.of(1, Arbitraries.integers().between(1, 3))))
                .as(Any::new);
    }

    @Property(tries = 2000)
    void everyCommandGetsExactlyItsAnswer(@ForAll("messages") Any any) {
        int held = Fds.count();
        int windows = system.windows();
        Message m = Message.command(any.command).flags(any.type);
        any.fields.forEach(m::u32);
        for (int i = 0; i < any.tail; i++) {
            m.u8(7);
        }
        int[] fds = Arrays.copyOf(descriptors, any.fds);
        if (any.posted) {
            peer.send(m.posted(), fds);
            peer.nothingPending();
            return;
        }
        Received r = peer.call(m, fds); // the next message, a reply with its id and command
        if ((r.flags() & Wire.ERROR) != 0) {
            assertEquals(Wire.REPLY | Wire.ERROR, r.flags(), "flags");
            assertEquals(Wire.HEADER, r.bytes().length, "an error's size");
            assertTrue(r.error() > 0 && r.error() < 4096, () -> "errno " + r.error());
            assertEquals(0, r.fds().length);
            if (any.command != Wire.DEVICE_FEATURE && any.command < Wire.MIG_DATA_READ) {
                assertTrue(Fds.count() <= held, "an error keeps no descriptor");
                assertEquals(windows, system.windows(), "and changes no window");
            }
        } else {
            assertEquals(Wire.REPLY, r.flags(), "flags");
            assertEquals(0, r.error(), "error field");
            assertEquals(0, any.type, "type of the command");
            if (hasRoom(any.command)) {
                assertTrue(
                        r.bytes().length - Wire.HEADER <= Integer.toUnsignedLong(any.fields.getFirst()),
                        "no more than argsz has room for");
            }
        }
        assertTrue(!peer.readable(0), "nothing after the answer");
        if (any.command == Wire.DEVICE_FEATURE || system.windows() > 100) {
            again(); // a device that is stopped would answer nothing but errors from here on
        }
    }

    private static boolean hasRoom(int command) {
        return command >= Wire.GET_INFO && command <= Wire.GET_IRQ_INFO;
    }

    private static void again() {
        peer.close();
        peer = RawPeer.negotiated(system.socket());
    }

    @Provide
    Arbitrary<Long> offsets() {
        return Arbitraries.oneOf(
                Arbitraries.longs().between(0, 0x20000),
                Arbitraries.longs(),
                Arbitraries.of(4095L, 4096L, 0xffffL, 0x10000L, -1L, -4L, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32));
    }

    @Provide
    Arbitrary<Integer> counts() {
        return Arbitraries.oneOf(
                Arbitraries.integers().between(0, 16),
                Arbitraries.integers(),
                Arbitraries.of(4096, 4097, 0x10000, MOST_DATA, MOST_DATA + 1, -1, Integer.MIN_VALUE));
    }

    @Property(tries = 1000)
    void aReadSucceedsIfAndOnlyIfItsRangeIsInsideTheRegion(
            @ForAll("offsets") long offset, @ForAll("counts") int count, @ForAll("regions") int region) {
        BigInteger end = new BigInteger(Long.toUnsignedString(offset)).add(BigInteger.valueOf(count & 0xffff_ffffL));
        boolean inside = region >= 0
                && region < REGION_BYTES.length
                && end.compareTo(BigInteger.valueOf(REGION_BYTES[region])) <= 0
                && (count & 0xffff_ffffL) <= MOST_DATA;
        Message m = Message.command(Wire.REGION_READ).u64(offset).u32(region).u32(count);
        if (inside) {
            assertEquals(Wire.HEADER + 16 + count, peer.ok(m).bytes().length);
        } else {
            peer.fails(Wire.EINVAL, m);
        }
    }

    @Provide
    Arbitrary<Integer> regions() {
        return Arbitraries.oneOf(Arbitraries.integers().between(0, 8), Arbitraries.integers());
    }

    @Provide
    Arbitrary<Integer> vectors() {
        return Arbitraries.oneOf(
                Arbitraries.integers().between(0, 66),
                Arbitraries.of(-1, Integer.MAX_VALUE, Integer.MIN_VALUE, -64, -63));
    }

    @Property(tries = 1000)
    void interruptsAreSetIfAndOnlyIfAllOfThemAreThere(
            @ForAll("vectors") int start, @ForAll("vectors") int count, @ForAll("kinds") int kind) {
        long vectors = kind >= 0 && kind < VECTORS.length ? VECTORS[kind] : -1;
        long last = (start & 0xffff_ffffL) + (count & 0xffff_ffffL);
        boolean disable = start == 0 && count == 0 && vectors >= 0;
        boolean inside = count != 0 && last <= vectors;
        Message m = Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, kind, start, count);
        if (disable || inside) {
            peer.ok(m);
        } else {
            peer.fails(Wire.EINVAL, m);
        }
    }

    @Provide
    Arbitrary<Integer> kinds() {
        return Arbitraries.oneOf(Arbitraries.integers().between(0, 5), Arbitraries.integers());
    }

    @Property(tries = 500)
    void aFeatureIsAnsweredAsTheModelSays(@ForAll("features") int flags, @ForAll("vectors") int argsz) {
        boolean known = List.of(1, 2, 6, 7, 8).contains(flags & 0xffff);
        boolean probe = (flags & Wire.FEATURE_PROBE) != 0;
        Received r = peer.call(Message.command(Wire.DEVICE_FEATURE).u32(argsz).u32(flags));
        if (!known || (argsz & 0xffff_ffffL) < 8) {
            assertEquals(Wire.REPLY | Wire.ERROR, r.flags());
        }
        if (r.flags() == Wire.REPLY) {
            assertTrue(r.bytes().length >= Wire.HEADER + 8);
            assertTrue(probe || (flags & (Wire.FEATURE_GET | Wire.FEATURE_SET)) != 0, "neither GET nor SET nor PROBE");
        }
        again();
    }

    @Provide
    Arbitrary<Integer> features() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, 10),
                        Arbitraries.integers().between(0, 7))
                .as((feature, operation) -> feature | operation << 16);
    }
}
