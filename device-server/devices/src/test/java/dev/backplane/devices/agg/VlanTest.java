// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.agg.SimulatedNic.Received;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.VlanPolicy;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Access and trunk ports (IEEE 802.1Q), with tags beside frames and inside. */
@Timeout(30)
class VlanTest {
    private static final long NO_VLAN = VnicDevice.FEATURES & ~AggRegisters.FEATURE_VLAN;

    private final FabricFixture fabric = new FabricFixture();

    @AfterEach
    void close() {
        fabric.close();
    }

    private SimulatedNic port(int id, VlanPolicy vlans, long features) {
        return fabric.add(id, PortConfig.defaults().withVlans(vlans), 64, 2048).start(features, 64);
    }

    private SimulatedNic access(int id, int vlan) {
        return port(id, VlanPolicy.access(vlan), VnicDevice.FEATURES);
    }

    private SimulatedNic trunk(int id, long features, int nativeId, int... vlans) {
        BitSet set = new BitSet();
        for (int v : vlans) {
            set.set(v);
        }
        return port(id, VlanPolicy.trunk(nativeId, set), features);
    }

    private static void sendTagged(SimulatedNic nic, byte[] frame, int tci) {
        int first = nic.tx.producer;
        nic.prepare(frame, frame.length);
        long at = nic.tx.descriptor(first);
        nic.guest.setShort(at + TransmitDescriptor.FLAGS, TransmitDescriptor.END_OF_FRAME | TransmitDescriptor.VLAN);
        nic.guest.setShort(at + TransmitDescriptor.VLAN_TCI, tci);
        nic.tx.publish();
    }

    private static byte[] tagged(byte[] frame, int tci) {
        return ByteBuffer.allocate(frame.length + 4)
                .put(frame, 0, 12)
                .putInt(0x8100_0000 | tci)
                .put(frame, 12, frame.length - 12)
                .array();
    }

    private static byte[] broadcast(SimulatedNic from, int seed) {
        return Frames.frame(MacAddress.BROADCAST, from.mac(), 80, seed);
    }

    /** The tag of the one frame that has come, 0 for none; -1 when nothing has come. */
    private static int tag(SimulatedNic nic, byte[] untagged) {
        List<Received> got = nic.receive();
        if (got.isEmpty()) {
            return -1;
        }
        assertEquals(1, got.size());
        Received r = got.get(0);
        if (r.data().length == untagged.length) {
            assertArrayEquals(untagged, r.data());
            boolean beside = (r.flags() & ReceiveCompletion.VLAN) != 0;
            assertEquals(beside, r.vlanTci() != 0);
            return r.vlanTci();
        }
        int tci = ByteBuffer.wrap(r.data()).getShort(14) & 0xffff;
        assertArrayEquals(tagged(untagged, tci), r.data(), "the tag inside");
        assertEquals(0, r.flags() & ReceiveCompletion.VLAN, "not beside as well");
        return tci;
    }

    @Test
    void accessPortsMeetInTheirVlanOnly() {
        SimulatedNic a = access(1, 10);
        SimulatedNic b = access(2, 10);
        SimulatedNic c = access(3, 20);
        byte[] frame = broadcast(a, 1);
        a.send(frame);
        assertEquals(0, tag(b, frame), "untagged on both ends");
        assertEquals(-1, tag(c, frame));
        byte[] direct = Frames.frame(c.mac(), a.mac(), 80, 2);
        a.send(direct);
        assertEquals(-1, tag(c, direct), "an address is no way into another VLAN");
        assertEquals(1, fabric.fabric.counters().get("no_destination"));
    }

    @Test
    void accessPortRefusesTags() {
        SimulatedNic a = access(1, 10);
        access(2, 10);
        sendTagged(a, broadcast(a, 1), 10);
        a.send(tagged(broadcast(a, 2), 10));
        a.send(tagged(broadcast(a, 3), 0));
        assertEquals(
                List.of(TransmitCompletion.DROPPED, TransmitCompletion.DROPPED, TransmitCompletion.DROPPED),
                a.completions());
        assertEquals(3, a.count("tx_dropped"));
    }

    @Test
    void trunkTagsAllButItsNativeVlan() {
        SimulatedNic ten = access(1, 10);
        SimulatedNic one = access(2, 1);
        SimulatedNic beside = trunk(3, VnicDevice.FEATURES, 1, 10, 20);
        SimulatedNic inside = trunk(4, NO_VLAN, 1, 10, 20);
        byte[] frame = broadcast(ten, 1);
        ten.send(frame);
        assertEquals(10, tag(beside, frame));
        assertEquals(10, tag(inside, frame));
        frame = broadcast(one, 2);
        one.send(frame);
        assertEquals(0, tag(beside, frame));
        assertEquals(0, tag(inside, frame));
        frame = broadcast(beside, 3);
        sendTagged(beside, frame, 0xa00a);
        assertEquals(0, tag(ten, frame));
        assertEquals(-1, tag(one, frame));
        assertEquals(0xa00a, tag(inside, frame), "the priority passes");
        frame = broadcast(inside, 4);
        inside.send(tagged(frame, 0x600a));
        assertEquals(0, tag(ten, frame));
        assertEquals(0x600a, tag(beside, frame));
        frame = broadcast(inside, 5);
        inside.send(frame);
        assertEquals(0, tag(one, frame), "untagged frames are in the native VLAN");
        assertEquals(-1, tag(ten, frame));
    }

    @Test
    void priorityTagMeansTheNativeVlanAndOthersAreRefused() {
        SimulatedNic a = trunk(1, VnicDevice.FEATURES, 7, 10);
        SimulatedNic b = access(2, 7);
        SimulatedNic c = trunk(3, VnicDevice.FEATURES, 1, 7);
        byte[] frame = broadcast(a, 1);
        sendTagged(a, frame, 0xe000);
        assertEquals(0, tag(b, frame));
        assertEquals(0xe007, tag(c, frame));
        sendTagged(a, frame, 11);
        assertEquals(List.of(TransmitCompletion.OK, TransmitCompletion.DROPPED), a.completions());
    }

    @Test
    void secondTagIsDataAndStays() {
        SimulatedNic a = trunk(1, VnicDevice.FEATURES, 1, 10);
        SimulatedNic b = access(2, 10);
        byte[] inner = tagged(broadcast(a, 1), 99);
        a.send(tagged(inner, 10));
        assertArrayEquals(inner, b.receive().get(0).data());
    }

    @Test
    void sameAddressInTwoVlansHasTwoPlaces() {
        SimulatedNic trunk = trunk(1, VnicDevice.FEATURES, 1, 10, 20);
        SimulatedNic ten = access(2, 10);
        SimulatedNic twenty = access(3, 20);
        MacAddress roaming = new MacAddress(0x0200_0000_0099L);
        ten.send(Frames.frame(MacAddress.BROADCAST, roaming, 80, 1));
        twenty.send(Frames.frame(MacAddress.BROADCAST, roaming, 80, 2));
        trunk.receive();
        byte[] frame = Frames.frame(roaming, trunk.mac(), 80, 3);
        sendTagged(trunk, frame, 10);
        sendTagged(trunk, frame, 20);
        assertEquals(0, tag(ten, frame));
        assertEquals(0, tag(twenty, frame));
        assertEquals(2, fabric.fabric.counters().get("unicast"));
    }
}
