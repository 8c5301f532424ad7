// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.PortState;
import dev.backplane.devices.fabric.VlanPolicy;
import dev.backplane.devices.uplink.FrameRing;
import dev.backplane.devices.uplink.UplinkConfig;
import dev.backplane.devices.uplink.UplinkPort;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A port that is not a guest: frames both ways, waiting both ways, and nobody else's loss. */
@Timeout(60)
class UplinkPortTest {
    private static final MacAddress OUTSIDE = new MacAddress(0x0200_0000_00aaL);

    private final FabricFixture fabric = new FabricFixture(
            FabricConfig.defaults().withRendezvousBytes(8 << 20).withStuckMillis(50));

    @AfterEach
    void close() {
        fabric.close();
    }

    private SimulatedFarSide uplink(UplinkConfig config) {
        return new SimulatedFarSide(fabric.fabric.addUplink(config));
    }

    private SimulatedFarSide uplink() {
        return uplink(UplinkConfig.named("outside"));
    }

    @Test
    void framesGoBothWays() {
        SimulatedNic a = fabric.nic(1);
        SimulatedFarSide outside = uplink();
        byte[] request = Frames.frame(MacAddress.BROADCAST, a.mac(), 60, 1);
        a.send(request);
        assertArrayEquals(request, outside.receive(1, fabric).getFirst());
        byte[] answer = Frames.frame(a.mac(), OUTSIDE, 1514, 2);
        outside.send(answer);
        fabric.await("the answer", () -> a.rx.completed() == 1);
        SimulatedNic.Received received = a.receive().getFirst();
        assertArrayEquals(answer, received.data());
        assertEquals(0, received.source(), "no node");
        SimulatedNic b = fabric.nic(2);
        byte[] known = Frames.frame(OUTSIDE, a.mac(), 100, 3);
        a.send(known);
        assertArrayEquals(known, outside.receive(1, fabric).getFirst());
        assertEquals(List.of(), b.receive(), "the address outside has been learnt");
        assertEquals(2, outside.count("rx_frames"));
        assertEquals(1, outside.count("tx_frames"));
    }

    @Test
    void aLinkThatIsDownDropsAndWhatWasLearntBehindItIsForgotten() {
        SimulatedNic a = fabric.nic(1);
        SimulatedFarSide outside = uplink();
        outside.send(Frames.frame(a.mac(), OUTSIDE, 60, 1));
        fabric.await("a frame", () -> a.receive().size() == 1);
        assertEquals(2, fabric.fabric.addressView("default").size());
        outside.port.setCarrier(false);
        assertFalse(outside.port.linkUp());
        assertEquals(1, fabric.fabric.addressView("default").size());
        a.send(Frames.frame(OUTSIDE, a.mac(), 60, 2));
        outside.send(Frames.frame(a.mac(), OUTSIDE, 60, 3));
        fabric.await("the frame from outside to be dropped", () -> outside.count("tx_dropped") == 1);
        assertEquals(List.of(), outside.receive());
        outside.port.setAdminUp(false);
        outside.port.setCarrier(true);
        assertFalse(outside.port.linkUp());
        outside.port.setAdminUp(true);
        assertTrue(outside.port.linkUp());
        a.send(Frames.frame(OUTSIDE, a.mac(), 60, 4));
        outside.receive(1, fabric);
        assertEquals(2, outside.count("link_ups"));
    }

    @Test
    void nothingIsLostWhileTheFarSideDrains() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 1024, 2048).start();
        SimulatedFarSide outside = uplink();
        int n = 1024;
        for (int i = 0; i < n; i++) {
            a.prepare(Frames.frame(OUTSIDE, a.mac(), 1514, i), 1514);
        }
        outside.send(Frames.frame(a.mac(), OUTSIDE, 60, 1));
        a.tx.publish();
        List<byte[]> all = outside.receive(n, fabric);
        for (int i = 0; i < n; i++) {
            assertArrayEquals(Frames.frame(OUTSIDE, a.mac(), 1514, i), all.get(i));
        }
        assertEquals(0, outside.port.counters().rxDropped());
    }

    @Test
    void aFarSideThatTakesNothingIsStuckAndHurtsNobodyElse() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 4096, 2048).start();
        SimulatedNic b = fabric.nic(2);
        SimulatedNic c = fabric.nic(3);
        SimulatedFarSide outside = uplink();
        outside.send(Frames.frame(a.mac(), OUTSIDE, 60, 1));
        fabric.await("the address outside to be learnt", () -> a.rx.completed() == 1);
        for (int i = 0; i < 4096; i++) {
            a.prepare(Frames.frame(OUTSIDE, a.mac(), 1514, i), 1514);
        }
        a.tx.publish();
        fabric.await("the sender to be let go", () -> a.tx.completed() == 4096);
        assertEquals(PortState.STUCK, outside.port.state());
        assertTrue(outside.port.heldCells() <= outside.port.quotaCells());
        for (int i = 0; i < 100; i++) {
            b.send(Frames.frame(c.mac(), b.mac(), 1514, i));
            fabric.await("a frame between others", () -> c.receive().size() == 1);
            b.completions();
        }
        long dropped = outside.count("rx_dropped_stuck");
        assertTrue(dropped > 0);
        outside.receive(4096 - (int) dropped, fabric);
        fabric.await("the port to recover", () -> outside.port.state() == PortState.UP);
        a.completions();
        a.send(Frames.frame(OUTSIDE, a.mac(), 60, 5));
        outside.receive(1, fabric);
    }

    @Test
    void theFarSideWaitsForAGuestThatDoesNotDrainAndGoesOnAfterwards() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 4096, 2048).start(0, 0);
        SimulatedFarSide outside = uplink();
        int n = 0;
        boolean full = false;
        byte[] frame = Frames.frame(a.mac(), OUTSIDE, 1514, 1);
        while (!full) {
            full = !outside.offer(frame) && outside.port.incoming().awaitRoom(frame.length);
            if (!full) {
                n++;
            }
            outside.port.incoming().publish();
            outside.port.received();
            assertTrue(n < 100_000, "the ring never fills");
        }
        int sent = n;
        // The port becomes stuck: from then on frames beyond its quota are dropped, and the far side goes on.
        fabric.await("room again", () -> outside.roomAgain.get() != 0);
        a.post(4096);
        int[] received = {0};
        fabric.await("all frames to have come, or to have been dropped", () -> {
            received[0] += a.receive().size();
            return received[0] + a.count("rx_dropped_stuck") == sent;
        });
        assertTrue(received[0] > 0);
    }

    @Test
    void tagsPoliciesAndPartitionsHold() {
        PortConfig access = PortConfig.defaults().withVlans(VlanPolicy.access(7));
        SimulatedNic a = fabric.add(1, access, 64, 2048).start();
        SimulatedNic other = fabric.add(
                        new Node(2, "n2", MacAddress.ofNode(2), "elsewhere"), PortConfig.defaults(), 64, 2048)
                .start();
        SimulatedFarSide trunk = uplink();
        SimulatedFarSide untagged = uplink(UplinkConfig.named("native").withPort(access));
        SimulatedFarSide wrong = uplink(
                UplinkConfig.named("wrong").withPort(PortConfig.defaults().withVlans(VlanPolicy.access(8))));
        byte[] plain = Frames.frame(MacAddress.BROADCAST, a.mac(), 100, 1);
        a.send(plain);
        byte[] tagged = trunk.receive(1, fabric).getFirst();
        assertEquals(104, tagged.length);
        assertEquals(0x8100_0007, ByteBuffer.wrap(tagged).getInt(12));
        assertArrayEquals(Arrays.copyOfRange(plain, 12, 100), Arrays.copyOfRange(tagged, 16, 104));
        assertArrayEquals(plain, untagged.receive(1, fabric).getFirst());
        assertEquals(List.of(), wrong.receive());
        assertEquals(List.of(), other.receive());
        System.arraycopy(new byte[] {2, 0, 0, 0, 0, 9}, 0, tagged, 6, 6);
        trunk.send(tagged);
        fabric.await("the frame untagged", () -> a.rx.completed() == 1);
        assertEquals(100, a.receive().getFirst().data().length);
        wrong.send(tagged);
        fabric.await("a tagged frame to be refused", () -> wrong.count("tx_dropped") == 1);
    }

    @Test
    void whatIsTooLongOrTooShortIsDroppedAndCounted() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 64, 16_384).start();
        SimulatedFarSide outside = uplink(UplinkConfig.named("outside").withMtu(1000));
        a.send(Frames.frame(OUTSIDE, a.mac(), 1015, 1));
        a.send(Frames.frame(OUTSIDE, a.mac(), 1014, 2));
        assertEquals(1014, outside.receive(1, fabric).getFirst().length);
        assertEquals(1, outside.count("rx_dropped_too_long"));
        outside.send(new byte[13]);
        fabric.await("the runt", () -> outside.count("tx_errors") == 1);
    }

    @Test
    void framesAreSegmentedForAFarSideThatCannot() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 64, 2048).start();
        SimulatedFarSide outside = uplink();
        OffloadFrame f = OffloadFrame.tcp(OUTSIDE, a.mac(), false, 20_000, 1380, new Random(1));
        f.send(a);
        List<byte[]> packets = outside.receive((20_000 + 1379) / 1380, fabric);
        assertTrue(packets.stream().allMatch(p -> p.length <= 1514), "no packet is longer than the MTU");
        assertEquals(1, outside.count("rx_segmented"));
        assertEquals(packets.size(), outside.count("rx_checksummed"));
    }

    @Test
    void namesAreUniqueAndMirrorsReachUplinks() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults().withMirrorTo("probe"), 64, 2048)
                .start();
        SimulatedNic b = fabric.nic(2);
        SimulatedFarSide probe = uplink(UplinkConfig.named("probe"));
        assertThrows(IllegalArgumentException.class, () -> fabric.fabric.addUplink(UplinkConfig.named("node1")));
        assertThrows(IllegalArgumentException.class, () -> fabric.fabric.addUplink(UplinkConfig.named("probe")));
        byte[] frame = Frames.frame(b.mac(), a.mac(), 100, 1);
        a.send(frame);
        fabric.await("the frame", () -> b.receive().size() == 1);
        assertArrayEquals(frame, probe.receive(1, fabric).getFirst());
    }

    @Test
    void framesGivenUpBetweenPortAndFarSideAreCounted() {
        SimulatedNic a = fabric.nic(1);
        SimulatedFarSide outside = uplink();
        for (int i = 0; i < 5; i++) {
            a.send(Frames.frame(MacAddress.BROADCAST, a.mac(), 60, i));
        }
        UplinkPort port = outside.port;
        port.setCarrier(false);
        port.abandon();
        assertEquals(5, outside.count("lost"));
        assertEquals(FrameRing.NONE, port.outgoing().first());
    }

    @Test
    void nothingIsAllocatedPerFrame() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().threadId();
        SimulatedNic a = fabric.nic(1);
        SimulatedFarSide outside = uplink();
        outside.send(Frames.frame(a.mac(), OUTSIDE, 60, 1));
        fabric.await("a frame", () -> a.receive().size() == 1);
        for (int i = 0; i < a.tx.size; i++) {
            a.prepare(Frames.udp(OUTSIDE, a.mac(), 1000, 2000, 100), 142);
        }
        byte[] back = Frames.udp(a.mac(), OUTSIDE, 2000, 1000, 100);
        a.tx.producer = 0;
        int rounds = 20_000;
        long before = 0;
        for (int round = 0; round < 2 * rounds; round++) {
            if (round == rounds) {
                before = threads.getThreadAllocatedBytes(id);
            }
            a.tx.producer += 32;
            a.tx.publish();
            FrameRing ring = outside.port.outgoing();
            while (ring.first() != FrameRing.NONE) {
                ring.remove();
            }
            if (ring.release()) {
                outside.port.sent();
            }
            for (int i = 0; i < 32; i++) {
                outside.offer(back);
            }
            outside.port.incoming().publish();
            outside.port.received();
            a.rx.producer += 32;
            a.rx.publish();
        }
        long allocated = threads.getThreadAllocatedBytes(id) - before;
        assertTrue(allocated < rounds, () -> allocated + " bytes for " + rounds * 64 + " frames");
    }
}
