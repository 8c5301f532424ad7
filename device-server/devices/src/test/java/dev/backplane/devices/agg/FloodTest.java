// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.vfiouser.device.ResetKind;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many nodes on several threads: in the end nothing is allocated, and all counters balance (see the fixture). The long
 * form lasts as long as the system property {@code flood.seconds} says.
 */
@Timeout(1200)
class FloodTest {
    private static final int NODES = 64;
    private static final int ROUNDS = 60;
    private static final int MOST_ROUNDS = 100_000;
    private static final int SECONDS = Integer.getInteger("flood.seconds", 0);

    @Test
    void manyNodesFloodingReceivingAndResettingLeaveNothingBehind() throws InterruptedException {
        FabricConfig config =
                FabricConfig.defaults().withRendezvousBytes(4 << 20).withStuckMillis(20);
        try (FabricFixture fabric = new FabricFixture(config)) {
            for (int id = 1; id <= NODES; id++) {
                fabric.add(id, PortConfig.defaults(), 16, 2048).start();
            }
            Thread[] threads = new Thread[4];
            long end = System.nanoTime() + SECONDS * 1_000_000_000L;
            for (int t = 0; t < threads.length; t++) {
                int first = t;
                threads[t] = Thread.ofPlatform().start(() -> {
                    Random random = new Random(first);
                    // How far a round gets depends on the machine, so there are rounds until enough has gone through.
                    for (int round = 0;
                            round < ROUNDS || System.nanoTime() - end < 0 || (round < MOST_ROUNDS && !enough(fabric));
                            round++) {
                        for (int i = first; i < NODES; i += 4) {
                            act(fabric.nics.get(i), random);
                        }
                    }
                });
            }
            for (Thread t : threads) {
                t.join();
            }
            assertTrue(enough(fabric), fabric::toString);
            if (SECONDS > 0) {
                System.out.println(fabric.fabric.counters());
            }
        }
    }

    private static boolean enough(FabricFixture fabric) {
        return fabric.fabric.counters().get("unicast") > 2000
                && fabric.fabric.counters().get("flooded") > 200;
    }

    private static void act(SimulatedNic nic, Random random) {
        int what = random.nextInt(100);
        if (what < 2) {
            nic.guest.reset(ResetKind.BUS);
            nic.tx.clear();
            nic.rx.clear();
            nic.start();
            return;
        }
        nic.completions();
        for (int n = random.nextInt(8); n > 0 && nic.tx.space() > 0; n--) {
            MacAddress to =
                    random.nextInt(10) == 0 ? MacAddress.BROADCAST : MacAddress.ofNode(1 + random.nextInt(NODES));
            int bytes = 14 + random.nextInt(1500);
            nic.prepare(Frames.frame(to, nic.mac(), bytes, n), bytes);
        }
        nic.tx.publish();
        if (what > 20) {
            nic.receive();
        }
    }

    @Test
    void nodesOfDifferentPartitionsExchangeNothing() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            Node other = new Node(2, "other", MacAddress.ofNode(2), "elsewhere");
            SimulatedNic b = fabric.add(other, PortConfig.defaults(), 64, 2048).start();
            a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
            a.send(Frames.frame(MacAddress.BROADCAST, a.mac(), 60, 1));
            assertEquals(0, b.receive().size());
            assertEquals(2, fabric.fabric.counters().get("flooded_to_nobody"));
        }
    }

    @Test
    void aMirrorGetsOneCopyOfWhatAPortSendsAndReceives() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.add(
                            1, PortConfig.defaults().withMirrorTo(Node.of(3).name()), 64, 2048)
                    .start();
            SimulatedNic b = fabric.nic(2);
            SimulatedNic watcher = fabric.nic(3);
            a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
            assertEquals(1, b.receive().size());
            assertEquals(1, watcher.receive().size());
            b.send(Frames.frame(a.mac(), b.mac(), 60, 2));
            assertEquals(1, a.receive().size());
            assertEquals(1, watcher.receive().size());
            a.send(Frames.frame(MacAddress.BROADCAST, a.mac(), 60, 3));
            assertEquals(1, b.receive().size());
            assertEquals(1, watcher.receive().size(), "a broadcast is not copied twice");
            assertEquals(2, fabric.fabric.counters().get("mirrored"));
        }
    }

    @Test
    void aMirrorInAnotherPartitionIsRefused() {
        try (FabricFixture fabric = new FabricFixture()) {
            fabric.add(1, PortConfig.defaults().withMirrorTo("other"), 64, 2048);
            Node other = new Node(2, "other", MacAddress.ofNode(2), "elsewhere");
            assertThrows(IllegalArgumentException.class, () -> fabric.add(other, PortConfig.defaults(), 64, 2048));
        }
    }

    @Test
    void anAddressMovesToThePortThatSendsFromIt() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            SimulatedNic c = fabric.nic(3);
            MacAddress x = MacAddress.parse("02:00:00:00:00:99");
            b.send(Frames.frame(a.mac(), x, 60, 1));
            a.send(Frames.frame(x, a.mac(), 60, 1));
            assertEquals(1, b.receive().size());
            c.send(Frames.frame(a.mac(), x, 60, 1));
            a.send(Frames.frame(x, a.mac(), 60, 1));
            assertEquals(0, b.receive().size());
            assertEquals(1, c.receive().size());
            assertEquals(1, fabric.fabric.counters().get("mac_moved"));
        }
    }

    @Test
    void theTableOfAddressesIsBoundedAndANodesOwnAddressCannotBeTakenAway() {
        try (FabricFixture fabric = new FabricFixture(FabricConfig.defaults().withMacEntries(256, 32))) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            for (int i = 0; i < 2000; i++) {
                b.send(Frames.frame(a.mac(), new MacAddress(0x02ff_0000_0000L + i), 60, i));
                b.completions();
                a.receive();
            }
            b.send(Frames.frame(a.mac(), a.mac(), 60, 1));
            assertTrue(fabric.fabric.addressView(Node.DEFAULT_PARTITION).size() <= 34);
            assertTrue(fabric.fabric.counters().get("mac_refused") >= 2000 - 32);
            SimulatedNic c = fabric.nic(3);
            a.receive();
            c.send(Frames.frame(a.mac(), c.mac(), 60, 1));
            assertEquals(1, a.receive().size());
        }
    }

    @Test
    void withAntiSpoofingOnlyTheNodesOwnAddressIsAccepted() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.add(1, PortConfig.defaults().withAntiSpoofing(true), 64, 2048)
                    .start();
            SimulatedNic b = fabric.nic(2);
            a.send(Frames.frame(b.mac(), MacAddress.ofNode(9), 60, 1));
            a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
            assertEquals(List.of(TransmitCompletion.DROPPED, TransmitCompletion.OK), a.completions());
            assertEquals(1, b.receive().size());
            assertEquals(1, a.count("tx_dropped"));
        }
    }
}
