// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.agg.SimulatedNic.Received;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.VlanPolicy;
import dev.backplane.vfiouser.device.ResetKind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a port cannot take is done for it: segmentation, checksums, tags inside; judged by {@link SegmentReference}. */
@Timeout(60)
class SegmentationTest {
    /** A driver with an XDP program: it negotiates none of the offloads. */
    private static final long XDP = AggRegisters.FEATURE_MULTI_QUEUE | AggRegisters.FEATURE_MODERATION;

    private final FabricFixture fabric = new FabricFixture(
            FabricConfig.defaults().withRendezvousBytes(16 << 20).withCellBytes(2048));

    @AfterEach
    void close() {
        fabric.close();
    }

    private SimulatedNic receiver(int id, long features, int ring, int buffers) {
        SimulatedNic nic = fabric.add(id, PortConfig.defaults(), ring, buffers);
        nic.guest.write32(0, AggRegisters.MTU, 9000);
        return nic.start(features, ring);
    }

    private static void assertPackets(List<byte[]> expected, List<Received> got, Object what) {
        assertEquals(expected.size(), got.size(), () -> "packets of " + what);
        for (int i = 0; i < expected.size(); i++) {
            int n = i;
            Received r = got.get(i);
            assertArrayEquals(expected.get(i), r.data(), () -> "packet " + n + " of " + what);
            assertTrue(SegmentReference.intact(r.data()), () -> "checksums of packet " + n + " of " + what);
            assertEquals(0, r.gsoType());
            assertEquals(0, r.flags() & ReceiveCompletion.CHECKSUM_PARTIAL);
            assertEquals(ReceiveCompletion.CHECKSUM_VALID, r.flags() & ReceiveCompletion.CHECKSUM_VALID);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 100, 2048, 16_384})
    void frameOfAnySizeIsCutAsTheReferenceCutsIt(int buffers) {
        Random random = new Random(buffers);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, XDP, 4096, buffers);
        int packets = 0;
        for (int i = 0; i < 400; i++) {
            boolean v6 = random.nextBoolean();
            int payload = 1 + random.nextInt(1 << random.nextInt(8, 16));
            int size = Math.min(8900, 48 + random.nextInt(1 << random.nextInt(3, 14)));
            boolean tcp = random.nextBoolean();
            int datagrams = tcp ? payload : Math.min(payload, 128 * size);
            OffloadFrame f = tcp
                    ? OffloadFrame.tcp(b.mac(), a.mac(), v6, payload, size, random)
                    : OffloadFrame.udp(b.mac(), a.mac(), v6, datagrams, size, random);
            List<byte[]> expected = SegmentReference.cut(f.data(), f.headers(), size);
            f.send(a);
            assertEquals(List.of(TransmitCompletion.OK, TransmitCompletion.OK), a.completions(), f::toString);
            List<Received> got = new ArrayList<>();
            fabric.await(expected.size() + " packets", () -> {
                got.addAll(b.receive());
                return got.size() >= expected.size();
            });
            assertPackets(expected, got, f);
            packets += expected.size();
        }
        assertEquals(400, b.count("rx_frames"), "frames of the fabric");
        assertEquals(400, b.count("rx_segmented"));
        assertEquals(packets, b.count("rx_checksummed"));
    }

    @Test
    void whatThePortTakesPassesAsItIs() {
        Random random = new Random(1);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, VnicDevice.FEATURES, 64, 16_384);
        OffloadFrame f = OffloadFrame.tcp(b.mac(), a.mac(), false, 10_000, 1448, random);
        f.send(a);
        Received r = b.receive().get(0);
        assertArrayEquals(f.data(), r.data());
        assertEquals(f.gsoSize(), r.gsoSize());
        assertEquals(0, b.count("rx_segmented") + b.count("rx_checksummed"));
    }

    @ParameterizedTest
    @ValueSource(longs = {AggRegisters.FEATURE_TSO4, AggRegisters.FEATURE_TSO6, AggRegisters.FEATURE_UDP_SEGMENTATION})
    void onlyWhatIsLackingIsDone(long taken) {
        Random random = new Random(2);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, AggRegisters.FEATURE_CHECKSUM | taken, 256, 16_384);
        OffloadFrame[] frames = {
            OffloadFrame.tcp(b.mac(), a.mac(), false, 6000, 1000, random),
            OffloadFrame.tcp(b.mac(), a.mac(), true, 6000, 1000, random),
            OffloadFrame.udp(b.mac(), a.mac(), true, 6000, 1000, random)
        };
        for (OffloadFrame f : frames) {
            f.send(a);
            boolean whole = f.gsoType() == 1 + Long.numberOfTrailingZeros(taken / AggRegisters.FEATURE_TSO4);
            assertEquals(whole ? 1 : 6, b.receive().size(), f::toString);
        }
        OffloadFrame partial = frames[0].asOnePacket();
        byte[] small = Arrays.copyOf(partial.data(), 1000);
        new OffloadFrame(small, 0, 0, 0, partial.csumStart(), partial.csumOffset()).send(a);
        Received r = b.receive().get(0);
        assertArrayEquals(small, r.data(), "partial checksums are taken");
        assertEquals(ReceiveCompletion.CHECKSUM_PARTIAL, r.flags() & ReceiveCompletion.CHECKSUM_PARTIAL);
    }

    @Test
    void partialChecksumsAreCompleted() {
        Random random = new Random(3);
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 64, 2048);
        a.guest.write32(0, AggRegisters.MTU, 9000);
        a.start();
        SimulatedNic b = receiver(2, XDP, 256, 512);
        for (int i = 0; i < 300; i++) {
            int payload = 1 + random.nextInt(7000);
            OffloadFrame f = (random.nextBoolean()
                            ? OffloadFrame.tcp(b.mac(), a.mac(), random.nextBoolean(), payload, 1, random)
                            : OffloadFrame.udp(b.mac(), a.mac(), random.nextBoolean(), payload, 1, random))
                    .asOnePacket();
            f.send(a);
            a.completions();
            byte[] got = b.receive().get(0).data();
            byte[] expected = f.data().clone();
            ByteBuffer e = ByteBuffer.wrap(expected);
            e.putShort(f.csumStart() + f.csumOffset(), ByteBuffer.wrap(got).getShort(f.csumStart() + f.csumOffset()));
            assertArrayEquals(expected, got, f::toString);
            ByteBuffer.wrap(got).putShort(24, e.getShort(12) == 0x0800 ? ipChecksum(got) : e.getShort(24));
            assertTrue(SegmentReference.intact(got), f::toString);
        }
        assertEquals(300, b.count("rx_checksummed"));
        assertEquals(0, b.count("rx_segmented"));
    }

    /** The sender of one packet makes the IP header's checksum itself; these frames have none. */
    private static short ipChecksum(byte[] packet) {
        ByteBuffer.wrap(packet).putShort(24, (short) 0);
        byte[] copy = SegmentReference.cut(packet, SegmentReference.transport(packet) + 8, 1 << 20)
                .get(0);
        return ByteBuffer.wrap(copy).getShort(24);
    }

    @Test
    void checksumOfZeroIsSentAsAllOnes() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, XDP, 64, 2048);
        byte[] data = Frames.udp(b.mac(), a.mac(), 1, 2, 20);
        Arrays.fill(data, 34, data.length, (byte) 0);
        ByteBuffer.wrap(data).putShort(40, (short) 0xffff); // the only word that is not 0
        new OffloadFrame(data, 0, 0, 0, 34, 6).send(a);
        assertEquals((short) 0xffff, ByteBuffer.wrap(b.receive().get(0).data()).getShort(40));
    }

    @Test
    void tagIsInsideForAPortThatTakesNoneBeside() {
        Random random = new Random(4);
        VlanPolicy trunk = VlanPolicy.trunk(1, BitSet.valueOf(new long[] {1L << 7}));
        SimulatedNic a = fabric.add(1, PortConfig.defaults().withVlans(VlanPolicy.access(7)), 64, 2048)
                .start();
        SimulatedNic b =
                fabric.add(2, PortConfig.defaults().withVlans(trunk), 256, 2048).start(XDP, 256);
        OffloadFrame f = OffloadFrame.tcp(b.mac(), a.mac(), false, 9000, 1400, random);
        f.send(a);
        List<byte[]> expected = SegmentReference.cut(f.data(), f.headers(), 1400);
        List<Received> got = b.receive();
        assertEquals(expected.size(), got.size());
        for (int i = 0; i < got.size(); i++) {
            ByteBuffer tagged = ByteBuffer.allocate(expected.get(i).length + 4);
            tagged.put(expected.get(i), 0, 12)
                    .putInt(0x8100_0007)
                    .put(expected.get(i), 12, expected.get(i).length - 12);
            assertArrayEquals(tagged.array(), got.get(i).data());
            assertEquals(0, got.get(i).flags() & ReceiveCompletion.VLAN, "it is not beside as well");
        }
    }

    @Test
    void portWithFewBuffersGetsTheSegmentsOneAfterTheOther() {
        Random random = new Random(5);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, XDP, 4, 2048);
        OffloadFrame f = OffloadFrame.tcp(b.mac(), a.mac(), false, 60_000, 1000, random);
        f.send(a);
        List<byte[]> expected = SegmentReference.cut(f.data(), f.headers(), 1000);
        List<Received> got = new ArrayList<>();
        while (got.size() < expected.size()) {
            List<Received> some = b.receive();
            assertTrue(!some.isEmpty() && some.size() <= 4, fabric::toString);
            got.addAll(some);
        }
        assertPackets(expected, got, f);
        assertEquals(1, b.count("rx_segmented"));
        assertEquals(60, b.count("rx_checksummed"));
        assertEquals(0, b.device.port().queuedFrames());
    }

    @Test
    void resetInTheMiddleOfAFrameLeavesNothingBehind() {
        Random random = new Random(6);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = receiver(2, XDP, 4, 2048);
        OffloadFrame.tcp(b.mac(), a.mac(), false, 60_000, 1000, random).send(a);
        assertEquals(4, b.take().size());
        b.guest.reset(ResetKind.BUS);
        assertEquals(0, fabric.allocated());
        assertEquals(1, b.count("rx_dropped_down"));
        b.rx.clear();
        b.tx.clear();
        b.guest.write32(0, AggRegisters.MTU, 9000);
        b.start(XDP, 4);
        OffloadFrame f = OffloadFrame.tcp(b.mac(), a.mac(), false, 3000, 1000, random);
        f.send(a);
        assertPackets(SegmentReference.cut(f.data(), f.headers(), 1000), b.receive(), f);
    }

    @Test
    void eachPortOfAFloodedFrameGetsWhatItCanTake() {
        Random random = new Random(7);
        SimulatedNic a = fabric.nic(1);
        SimulatedNic takes = receiver(2, VnicDevice.FEATURES, 64, 2048);
        SimulatedNic lacks = receiver(3, XDP, 64, 2048);
        OffloadFrame f = OffloadFrame.udp(MacAddress.BROADCAST, a.mac(), true, 9000, 1300, random);
        f.send(a);
        assertArrayEquals(f.data(), takes.receive().get(0).data());
        assertPackets(SegmentReference.cut(f.data(), f.headers(), 1300), lacks.receive(), f);
    }

    @Test
    void whatCannotBeDoneIsDroppedAndCounted() {
        Random random = new Random(8);
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 64, 2048);
        a.guest.write32(0, AggRegisters.MTU, 9000);
        a.start();
        SimulatedNic b = receiver(2, XDP, 64, 2048);
        OffloadFrame wrong = OffloadFrame.tcp(b.mac(), a.mac(), false, 3000, 1000, random);
        wrong.data()[wrong.csumStart() + 12] ^= (byte) 0x10; // another length of the TCP header
        wrong.send(a);
        assertEquals(1, b.count("rx_dropped_malformed"));
        byte[] far = Frames.frame(b.mac(), a.mac(), 3000, 1);
        new OffloadFrame(far, 0, 0, 0, 2000, 100).send(a);
        assertEquals(2, b.count("rx_dropped_malformed"));
        assertEquals(List.of(), b.receive());
        far = Frames.frame(b.mac(), a.mac(), 3000, 1);
        new OffloadFrame(far, 0, 0, 0, 14, 0).send(a);
        assertEquals(1, b.receive().size(), "the port goes on");
    }
}
