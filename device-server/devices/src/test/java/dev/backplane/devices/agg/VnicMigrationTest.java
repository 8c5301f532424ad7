// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.Node;
import dev.backplane.devices.agg.SimulatedNic.Received;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.PortState;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Field;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stop, save, restore, resume: traffic goes on where it was, nothing comes twice, bad states are refused. */
@Timeout(60)
class VnicMigrationTest {
    private static final int HEADER = 32;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final FabricFixture here = new FabricFixture();
    private final FabricFixture there = new FabricFixture();

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    private static MemorySegment save(VnicDevice device) {
        MemorySegment state = Arena.ofAuto().allocate(device.stateBytes(), 8);
        device.save(state);
        return state;
    }

    private static byte[] frame(SimulatedNic to, SimulatedNic from, int seed) {
        return Frames.frame(to.mac(), from.mac(), 60 + seed % 1400, seed);
    }

    /** Takes the guest of a device to another one, as a client that migrates does. */
    private static void migrate(SimulatedNic nic, VnicDevice to) {
        nic.device.stop();
        MemorySegment state = save(nic.device);
        nic.moveTo(to);
        to.stop();
        to.restore(state);
        to.resume();
    }

    @Test
    void stoppedDeviceDoesNothingAndGoesOnWhenResumed() {
        SimulatedNic a = here.nic(1);
        SimulatedNic b = here.nic(2);
        b.device.stop();
        long interrupts = b.guest.interrupts().total();
        MemorySegment before = save(b.device);
        for (int i = 0; i < 5; i++) {
            a.send(frame(b, a, i));
        }
        b.send(frame(a, b, 100));
        b.tx.ring();
        b.rx.ring();
        b.device.setAdminUp(false);
        b.device.setAdminUp(true);
        assertEquals(List.of(), b.take());
        assertEquals(List.of(), b.completions());
        assertEquals(List.of(), a.receive());
        assertEquals(interrupts, b.guest.interrupts().total());
        MemorySegment after = save(b.device);
        long stats = (long) HEADER + VnicState.BYTES;
        assertEquals(-1, before.asSlice(0, stats).mismatch(after.asSlice(0, stats)), "the state has not changed");
        assertEquals(5, b.device.port().queuedFrames());
        b.device.resume();
        List<Received> got = b.receive();
        assertEquals(5, got.size());
        for (int i = 0; i < 5; i++) {
            assertArrayEquals(frame(b, a, i), got.get(i).data());
        }
        assertArrayEquals(frame(a, b, 100), a.receive().get(0).data());
        assertEquals(List.of(TransmitCompletion.OK), b.completions());
    }

    @Test
    void guestGoesOnInAnotherServer() {
        SimulatedNic a = here.nic(1);
        SimulatedNic b = here.nic(2);
        VnicDevice newA = there.fabric.addNode(Node.of(1), PortConfig.defaults());
        VnicDevice newB = there.fabric.addNode(Node.of(2), PortConfig.defaults().withSpeedMbit(25_000));
        for (int i = 0; i < 100; i++) {
            a.send(frame(b, a, i));
            assertArrayEquals(frame(b, a, i), b.receive().get(0).data());
        }
        long sent = a.guest.read64(0, statistic("tx_frames"));
        a.prepare(frame(b, a, 100), frame(b, a, 100).length);
        a.guest.setIntRelease(a.tx.indices + QueueIndices.PRODUCER, a.tx.producer); // no doorbell any more
        migrate(b, newB);
        migrate(a, newA);
        assertArrayEquals(frame(b, a, 100), b.receive().get(0).data());
        for (int i = 101; i < 300; i++) {
            a.send(frame(b, a, i));
            assertArrayEquals(frame(b, a, i), b.receive().get(0).data());
            b.send(frame(a, b, i));
            assertArrayEquals(frame(a, b, i), a.receive().get(0).data());
            a.completions();
            b.completions();
        }
        assertEquals(List.of(), b.receive(), "nothing came twice");
        assertEquals(sent + 200, a.guest.read64(0, statistic("tx_frames")), "statistics go on");
        assertEquals(200, a.count("tx_frames"), "the new server's own counter does not");
        assertEquals(25_000, b.guest.read32(0, AggRegisters.LINK_SPEED), "the speed is that of the new port");
    }

    private static long statistic(String name) {
        return AggRegisters.STATISTICS + (long) AggStatistics.LAYOUT.offset(name);
    }

    @Test
    void framesForAGuestThatLeftAreDroppedAndCounted() {
        SimulatedNic a = here.nic(1);
        SimulatedNic b = here.nic(2);
        VnicDevice to = there.fabric.addNode(Node.of(2), PortConfig.defaults());
        b.device.stop();
        VnicDevice from = b.device;
        for (int i = 0; i < 7; i++) {
            a.send(frame(b, a, i));
        }
        assertEquals(7, here.allocated());
        MemorySegment state = save(b.device);
        b.moveTo(to);
        to.stop();
        to.restore(state);
        to.resume();
        assertEquals(0, here.allocated());
        assertEquals(7, from.counters().get("rx_dropped_down"));
        assertEquals(PortState.UP, to.port().state());
        assertEquals(List.of(), b.receive());
    }

    @Test
    void interruptThatModerationHeldBackComesThere() {
        SimulatedNic a = here.nic(1);
        SimulatedNic b = here.nic(2);
        VnicDevice to = there.fabric.addNode(Node.of(2), PortConfig.defaults());
        b.guest.write32(0, b.rx.register(QueueRegisters.MODERATION_USECS), 1_000_000);
        a.send(frame(b, a, 1));
        b.receive();
        b.rx.wantInterrupt(b.rx.consumed);
        a.send(frame(b, a, 2));
        long before = b.guest.interrupts().count(SimulatedNic.RX_VECTOR);
        migrate(b, to);
        assertEquals(before + 1, b.guest.interrupts().count(SimulatedNic.RX_VECTOR));
    }

    @Test
    void restOfAFrameThatWasGivenUpIsGivenUpThere() {
        SimulatedNic a = here.nic(1);
        VnicDevice to = there.fabric.addNode(Node.of(1), PortConfig.defaults());
        byte[] data = new byte[a.tx.size];
        int[] parts = new int[a.tx.size];
        Arrays.fill(parts, 1);
        a.prepare(data, parts);
        a.guest.setShort(a.tx.descriptor(a.tx.size - 1) + TransmitDescriptor.FLAGS, 0);
        a.tx.publish();
        assertEquals(a.tx.size, a.completions().size());
        migrate(a, to);
        a.prepare(new byte[60], 60); // still the same frame, for the device
        a.tx.publish();
        a.prepare(Frames.frame(Node.of(9).mac(), a.mac(), 60, 1), 60);
        a.tx.publish();
        assertEquals(List.of(TransmitCompletion.TOO_MANY_SEGMENTS, TransmitCompletion.OK), a.completions());
    }

    @Test
    void resetOrDepartureWhileStoppedLeavesANewDevice() {
        SimulatedNic a = here.nic(1);
        a.device.stop();
        a.guest.reset(ResetKind.BUS);
        a.device.resume();
        assertEquals(VnicStatus.IDLE, a.device.status());
        a.tx.clear();
        a.rx.clear();
        a.start();
        a.device.stop();
        a.guest.write32(0, AggRegisters.CONTROL, 0);
        a.guest.write32(0, AggRegisters.CONTROL, AggRegisters.CONTROL_ENABLE);
        assertFalse(a.device.linkUp());
        a.device.resume();
        assertTrue(a.device.linkUp());
    }

    // ---- hostile states ----

    private void assertRefused(VnicDevice device, MemorySegment state, String why) {
        device.stop();
        String message = assertThrows(IllegalArgumentException.class, () -> device.restore(state), why)
                .getMessage();
        assertTrue(message.startsWith("saved vNIC: ") && message.contains(why), message);
        device.resume();
        assertEquals(VnicStatus.IDLE, device.status());
        MemorySegment clean = save(there.fabric.devices().get(1));
        long epoch = HEADER + (long) AggRegisters.EPOCH;
        MemorySegment left = save(device);
        left.set(INT, epoch, 0);
        left.set(INT, 8, 3);
        clean.set(INT, epoch, 0);
        long identity = HEADER + (long) AggRegisters.MAC_LOW;
        MemorySegment.copy(clean, identity, left, identity, 12);
        assertEquals(
                -1, clean.asSlice(0, HEADER + VnicState.BYTES).mismatch(left.asSlice(0, HEADER + VnicState.BYTES)));
    }

    @Test
    void badStatesAreRefusedWithAReasonAndLeaveACleanDevice() {
        SimulatedNic a = here.nic(1);
        VnicDevice to = there.fabric.addNode(Node.of(1), PortConfig.defaults());
        there.fabric.addNode(Node.of(3), PortConfig.defaults());
        new SimulatedNic(to, 2, 64).guest.detach();
        a.device.stop();
        MemorySegment good = save(a.device);
        a.device.resume();
        assertRefused(to, good.asSlice(0, good.byteSize() - 1), "bytes");
        assertRefused(to, good.asSlice(0, 0), "bytes");
        assertRefused(to, changed(good, 0, 1), "magic");
        assertRefused(to, changed(good, 4, 2), "version");
        assertRefused(to, changed(good, 8, 2), "node");
        for (Field f : AggRegisters.LAYOUT.fields()) {
            if (f.access() == Access.RO
                    && !List.of("epoch", "link_speed", "bad_accesses").contains(f.name())) {
                assertRefused(to, changed(good, HEADER + f.offset(), 0x7fff_fff5), label(f.name()));
            }
        }
        Object[][] control = {
            {"driver_features", 1 << 30}, {"control", 2}, {"mtu", 67}, {"mtu", 65_511}, {"queue_pairs", 0},
            {"queue_pairs", 9}, {"event_vector", 17}, {"packet_filter", 4}, {"event_status", 8}, {"status", 0},
            {"status", 2}, {"error", 1}, {"queue_errors", 1}
        };
        for (Object[] c : control) {
            int at = HEADER + AggRegisters.LAYOUT.offset((String) c[0]);
            assertRefused(to, changed(good, at, (int) c[1]), label((String) c[0]));
        }
        Object[][] queue = {
            {"size", 0},
            {"size", 3},
            {"size", 8192},
            {"vector", 17},
            {"control", 2},
            {"control", 0},
            {"state", 3},
            {"state", 2},
            {"state", 0},
            {"error", 1},
            {"moderation_usecs", 1_000_001},
            {"descriptors", 8}
        };
        for (int q : new int[] {0, AggRegisters.MAX_QUEUE_PAIRS}) {
            for (Object[] c : queue) {
                int at = HEADER + VnicState.queue(q) + QueueRegisters.LAYOUT.offset((String) c[0]);
                assertRefused(to, changed(good, at, (int) c[1]), "queue " + q);
            }
            int remembered = HEADER + VnicState.remembered(q);
            assertRefused(to, changed(good, remembered + VnicState.DISCARD, 1), "discard");
            assertRefused(to, changed(good, remembered + VnicState.DISCARD, 9), "discard");
            assertRefused(to, changed(good, remembered + VnicState.INTERRUPT_DUE, 2), "interrupt_due");
        }
    }

    /** What the message names instead of the register, where that says more. */
    private static String label(String register) {
        return switch (register) {
            case "status" -> "";
            case "queue_errors" -> "error bit";
            default -> register;
        };
    }

    private static MemorySegment changed(MemorySegment good, long at, int value) {
        MemorySegment copy = Arena.ofAuto().allocate(good.byteSize(), 8).copyFrom(good);
        copy.set(INT, at, value);
        return copy;
    }

    @Test
    void damagedStateIsRefusedOrHarmsItsOwnPortOnly() {
        SimulatedNic a = here.nic(1);
        SimulatedNic b = here.nic(2);
        SimulatedNic c = here.nic(3);
        Random random = new Random(11);
        for (int round = 0; round < 2000; round++) {
            a.device.stop();
            MemorySegment state = save(a.device);
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                long at = HEADER + random.nextLong(VnicState.BYTES);
                state.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
            try {
                a.device.restore(state);
                a.device.resume();
                a.send(frame(b, a, round));
                b.send(frame(a, b, round));
            } catch (IllegalArgumentException refused) {
                a.device.resume();
            }
            a.guest.reset(ResetKind.BUS);
            a.tx.clear();
            a.rx.clear();
            a.start();
            b.receive();
            b.completions();
        }
        byte[] frame = frame(c, b, 1);
        b.send(frame);
        assertArrayEquals(frame, c.receive().get(0).data());
        assertEquals(0, here.workers.counters().get("failures"));
    }
}
