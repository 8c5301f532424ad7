// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.VlanPolicy;
import dev.backplane.devices.sim.ManualClock;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** IGMP and MLD snooping (RFC 4541): frames for a group go where its members are, and nobody misses what he asked for. */
@Timeout(60)
class GroupSnoopingTest {
    private static final int GROUP = 0x0a_0b0c; // 239.10.11.12
    private static final int OTHER = 0x0a_0b0d;

    private final ManualClock clock = new ManualClock();
    private final FabricFixture fabric = new FabricFixture(
            FabricConfig.defaults().withRendezvousBytes(16 << 20).withMacAgeSeconds(1_000_000), clock);
    private final SimulatedNic router = fabric.nic(1);
    private final SimulatedNic member = fabric.nic(2);
    private final SimulatedNic sender = fabric.nic(3);
    private final SimulatedNic stranger = fabric.nic(4);

    @AfterEach
    void close() {
        fabric.close();
    }

    private static MacAddress v4(int low) {
        return new MacAddress(0x0100_5e00_0000L | low);
    }

    private static MacAddress v6(int low) {
        return new MacAddress(0x3333_0000_0000L | (low & 0xffff_ffffL));
    }

    /** An IGMP message in an IPv4 packet with a router alert. */
    private static byte[] igmp(SimulatedNic from, int groupLow, byte[] message) {
        ByteBuffer b = ByteBuffer.allocate(14 + 24 + message.length);
        Frames.mac(b, v4(groupLow));
        Frames.mac(b, from.mac());
        b.putShort((short) 0x0800)
                .putShort((short) 0x46c0)
                .putShort((short) (24 + message.length))
                .putInt(0);
        b.put((byte) 1).put((byte) 2).putShort((short) 0).putInt(0x0a4d0001);
        b.putInt(0xe000_0000 | groupLow).putInt(0x9404_0000).put(message);
        b.putShort(40, (short) ~sum(b.array(), 38, b.capacity(), 0));
        return b.array();
    }

    private static byte[] igmp(int type, int groupLow) {
        int group = groupLow == 0 ? 0 : 0xef00_0000 | groupLow;
        return ByteBuffer.allocate(8).putInt(type << 24).putInt(group).array();
    }

    /** Group records of IGMPv3: type, sources, group; each with as many sources as said. */
    private static byte[] v3(int[]... records) {
        ByteBuffer b = ByteBuffer.allocate(512).putInt(0x2200_0000).putInt(records.length);
        for (int[] r : records) {
            b.putInt(r[0] << 24 | r[1]).putInt(0xef00_0000 | r[2]);
            for (int i = 0; i < r[1]; i++) {
                b.putInt(0x0a000000 + i);
            }
        }
        byte[] all = new byte[b.position()];
        b.get(0, all);
        return all;
    }

    /** An MLD message: ICMPv6 behind a hop-by-hop header with a router alert. */
    private static byte[] mld(SimulatedNic from, int to, int type, int... groups) {
        boolean v2 = type == 143;
        int bytes = v2 ? 8 + 20 * groups.length : 24;
        ByteBuffer b = ByteBuffer.allocate(14 + 40 + 8 + bytes);
        Frames.mac(b, v6(to));
        Frames.mac(b, from.mac());
        b.putShort((short) 0x86dd)
                .putInt(0x6000_0000)
                .putShort((short) (8 + bytes))
                .putShort((short) 1);
        b.putLong(0xfe80_0000_0000_0000L)
                .putLong(1)
                .putLong(0xff0e_0000_0000_0000L)
                .putLong(to);
        b.put((byte) 58).put((byte) 0).putInt(0x0502_0000).putShort((short) 0x0100);
        b.putInt(type << 24).putInt(v2 ? groups.length : 0);
        for (int g : groups) {
            if (v2) {
                b.putInt(4 << 24);
            }
            b.putLong(g == 0 ? 0 : 0xff0e_0000_0000_0000L).putLong(g);
        }
        b.putShort(64, (short) ~sum(b.array(), 62, b.capacity(), 58 + bytes + sum(b.array(), 22, 54, 0)));
        return b.array();
    }

    private static int sum(byte[] m, int from, int to, int start) {
        int sum = start;
        for (int i = from; i < to; i++) {
            sum += (m[i] & 0xff) << ((i - from) % 2 == 0 ? 8 : 0);
        }
        return (sum & 0xffff) + (sum >>> 16);
    }

    private static byte[] data(SimulatedNic from, int low) {
        byte[] frame = Frames.udp(v4(low), from.mac(), 1, 2, 20);
        return frame;
    }

    private static byte[] data6(SimulatedNic from, int low) {
        OffloadFrame f = OffloadFrame.udp(v6(low), from.mac(), true, 20, 20, new Random(1));
        return f.data();
    }

    private void send(SimulatedNic from, byte[] frame) {
        from.send(frame);
        from.completions();
    }

    /** Which of router, member, sender and stranger gets a frame, as bits from the lowest on. */
    private int reached(byte[] frame) {
        send(sender, frame);
        return drain();
    }

    private int drain() {
        int got = 0;
        SimulatedNic[] all = {router, member, sender, stranger};
        for (int i = 0; i < all.length; i++) {
            int n = all[i].receive().size();
            assertTrue(n <= 1, "once for each");
            got |= n << i;
        }
        return got;
    }

    private static final int ROUTER = 1;
    private static final int MEMBER = 2;
    private static final int SENDER = 4;
    private static final int STRANGER = 8;
    private static final int ALL = ROUTER | MEMBER | STRANGER;

    private void query() {
        send(router, igmp(router, 1, igmp(0x11, 0)));
        assertEquals(MEMBER | SENDER | STRANGER, drain(), "a query reaches everybody");
    }

    private void report(SimulatedNic from, byte[] frame) {
        send(from, frame);
        drain();
    }

    @Test
    void framesGoToMembersAndRoutersOnceThereIsAQuerier() {
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        assertEquals(ALL, reached(data(sender, GROUP)), "without a querier nothing is kept back");
        query();
        assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)));
        assertEquals(ALL, reached(data(sender, OTHER)), "a group without members is flooded");
        assertEquals(1, fabric.fabric.counters().get("multicast_unregistered"));
        assertEquals(ALL, reached(data(sender, 0xfb)), "224.0.0.0/24 is flooded");
    }

    @Test
    void reportsReachRoutersOnly() {
        query();
        send(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        assertEquals(ROUTER, drain());
        send(member, igmp(member, 22, v3(new int[] {4, 0, GROUP})));
        assertEquals(ROUTER, drain());
    }

    @Test
    void allVersionsOfReportsAreUnderstood() {
        query();
        byte[][] joins = {
            igmp(member, GROUP, igmp(0x12, GROUP)),
            igmp(member, GROUP, igmp(0x16, GROUP)),
            igmp(member, 22, v3(new int[] {4, 0, GROUP})),
            igmp(member, 22, v3(new int[] {2, 3, OTHER + 1}, new int[] {3, 2, GROUP})),
            igmp(member, 22, v3(new int[] {5, 1, GROUP}))
        };
        byte[][] leaves = {
            igmp(member, 2, igmp(0x17, GROUP)),
            igmp(member, 22, v3(new int[] {3, 0, GROUP})),
            igmp(member, 22, v3(new int[] {1, 0, GROUP}))
        };
        for (int i = 0; i < joins.length; i++) {
            report(member, joins[i]);
            assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)), "report " + i);
            report(member, leaves[i % leaves.length]);
            assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)), "others at the port may still answer");
            clock.advanceSeconds(3);
            assertEquals(ROUTER, reached(data(sender, GROUP)), "left " + i);
            query();
        }
    }

    @Test
    void membershipsAndQueriersAge() {
        query();
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        clock.advanceSeconds(250);
        query();
        clock.advanceSeconds(9);
        assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)));
        clock.advanceSeconds(2);
        assertEquals(ALL, reached(data(sender, GROUP)), "nobody is known to be a member any more");
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)));
        clock.advanceSeconds(256);
        assertEquals(ALL, reached(data(sender, GROUP)), "the querier has gone");
    }

    @Test
    void mldOfBothVersions() {
        int group = 0x1234_5678;
        send(router, mld(router, 1, 130, 0));
        assertEquals(MEMBER | SENDER | STRANGER, drain());
        assertEquals(ALL, reached(data6(sender, group)));
        for (byte[] join : new byte[][] {mld(member, group, 131, group), mld(member, 0x16, 143, group + 1, group)}) {
            report(member, join);
            assertEquals(ROUTER | MEMBER, reached(data6(sender, group)));
            report(member, mld(member, 2, 132, group));
            clock.advanceSeconds(3);
            assertEquals(ROUTER, reached(data6(sender, group)));
        }
        assertEquals(ALL, reached(data6(sender, 0xff00_1234)), "solicited-node addresses are flooded");
        assertEquals(ALL, reached(data(sender, GROUP)), "a querier of MLD is none of IGMP");
    }

    @Test
    void vlansAndPartitionsHaveMembershipsOfTheirOwn() {
        PortConfig inFive = PortConfig.defaults().withVlans(VlanPolicy.access(5));
        SimulatedNic router5 = fabric.add(5, inFive, 64, 2048).start();
        SimulatedNic member5 = fabric.add(6, inFive, 64, 2048).start();
        SimulatedNic sender5 = fabric.add(7, inFive, 64, 2048).start();
        query();
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        report(member5, igmp(member5, GROUP, igmp(0x16, GROUP)));
        fabric.nics.forEach(SimulatedNic::receive);
        send(sender5, data(sender5, GROUP));
        assertEquals(ALL | SENDER, drain(), "no querier in VLAN 5, which trunks carry too");
        assertEquals(1, router5.receive().size());
        assertEquals(1, member5.receive().size());
        send(router5, igmp(router5, 1, igmp(0x11, 0)));
        drain();
        member5.receive();
        sender5.receive();
        send(sender5, data(sender5, GROUP));
        assertEquals(0, drain(), "members in VLAN 1 are none in VLAN 5");
        assertEquals(1, router5.receive().size());
        assertEquals(1, member5.receive().size());

        SimulatedNic elsewhere = fabric.add(
                        new Node(8, "other", MacAddress.ofNode(8), "elsewhere"), PortConfig.defaults(), 64, 2048)
                .start();
        send(elsewhere, igmp(elsewhere, 1, igmp(0x11, 0)));
        send(elsewhere, igmp(elsewhere, OTHER, igmp(0x16, OTHER)));
        assertEquals(0, drain());
        assertEquals(ALL, reached(data(sender, OTHER)), "its group is not known here");
        assertEquals(List.of(), elsewhere.receive());
    }

    @Test
    void portWithTooManyGroupsGetsAll() {
        query();
        for (int i = 0; i < 400; i++) {
            send(stranger, igmp(stranger, 0x10_0000 + i, igmp(0x16, 0x10_0000 + i)));
            router.receive();
        }
        assertTrue(fabric.fabric.counters().get("multicast_groups_refused") > 0);
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        assertEquals(ROUTER | MEMBER | STRANGER, reached(data(sender, GROUP)), "rather too much than too little");
        assertEquals(ROUTER | STRANGER, reached(data(sender, 0x10_0000 + 399)) & ~MEMBER);
        report(router, igmp(router, 1, igmp(0x11, 0)));
        clock.advanceSeconds(200);
        report(router, igmp(router, 1, igmp(0x11, 0)));
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        clock.advanceSeconds(61);
        assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)), "not for ever");
    }

    @Test
    void whatCannotBeReadCostsNobodyAFrame() {
        query();
        report(member, igmp(member, GROUP, igmp(0x16, GROUP)));
        byte[] damaged = igmp(stranger, OTHER, igmp(0x16, OTHER));
        damaged[40] ^= 1;
        report(stranger, damaged);
        assertEquals(1, fabric.fabric.counters().get("multicast_bad_reports"));
        assertEquals(ROUTER | MEMBER | STRANGER, reached(data(sender, GROUP)));
        Random random = new Random(3);
        for (int i = 0; i < 20_000; i++) {
            byte[] m = random.nextBoolean()
                    ? igmp(stranger, 22, v3(new int[] {4, 1, GROUP}, new int[] {1, 0, OTHER}))
                    : mld(stranger, 0x16, 143, 5, 6, 7);
            for (int n = random.nextInt(4); n > 0; n--) {
                m[12 + random.nextInt(m.length - 12)] = (byte) random.nextInt();
            }
            byte[] cut = Arrays.copyOf(m, 14 + random.nextInt(m.length - 13));
            send(stranger, random.nextInt(3) == 0 ? cut : m);
            fabric.nics.forEach(SimulatedNic::receive);
        }
        assertEquals(ROUTER | MEMBER, reached(data(sender, GROUP)) & (ROUTER | MEMBER));
    }

    @Test
    void snoopingCanBeOff() {
        FabricConfig config =
                FabricConfig.defaults().withRendezvousBytes(4 << 20).withMulticastSnooping(false);
        try (FabricFixture plain = new FabricFixture(config)) {
            SimulatedNic a = plain.nic(1);
            SimulatedNic b = plain.nic(2);
            SimulatedNic c = plain.nic(3);
            a.send(igmp(a, 1, igmp(0x11, 0)));
            b.send(igmp(b, GROUP, igmp(0x16, GROUP)));
            c.receive();
            a.send(data(a, GROUP));
            assertEquals(1, c.receive().size());
        }
    }
}
