// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.fabric.PortConfig;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several queues, the INTx pin, and the link that the server's side takes down. */
@Timeout(30)
class DriverFacingTest {
    private final FabricFixture fabric = new FabricFixture();

    @AfterEach
    void close() {
        fabric.close();
    }

    /** Another receive queue of a guest, with buffers. */
    private static SimulatedQueue receiveQueue(SimulatedNic nic, int pair) {
        SimulatedQueue q = new SimulatedQueue(nic.guest, AggRegisters.MAX_QUEUE_PAIRS + pair, 256);
        long buffers = nic.guest.allocate(256L * 256);
        q.enable(AggRegisters.NO_VECTOR);
        for (int i = 0; i < 256; i++) {
            nic.guest.setLong(q.descriptor(i) + ReceiveDescriptor.ADDRESS, buffers + i * 256L);
            nic.guest.setInt(q.descriptor(i) + ReceiveDescriptor.LENGTH, 256);
        }
        q.producer = 256;
        q.publish();
        return q;
    }

    private static int sourcePort(SimulatedNic nic, SimulatedQueue q, int index) {
        long buffer = nic.guest.getLong(q.descriptor(index) + ReceiveDescriptor.ADDRESS);
        return ByteBuffer.wrap(nic.guest.get(buffer, 64)).getShort(34) & 0xffff;
    }

    @Test
    void flowsAreSpreadOverQueuesAndEachStaysInOneInOrder() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 256, 256).start();
        SimulatedQueue[] queues = {b.rx, receiveQueue(b, 1), receiveQueue(b, 2), receiveQueue(b, 3)};
        b.guest.write32(0, AggRegisters.QUEUE_PAIRS, 4);
        for (int round = 0; round < 3; round++) {
            for (int flow = 0; flow < 40; flow++) {
                byte[] frame = Frames.udp(b.mac(), a.mac(), 1000 + flow, 53, 20);
                frame[42] = (byte) round;
                a.send(frame);
                a.completions();
            }
        }
        Map<Integer, Integer> queueOf = new HashMap<>();
        BitSet used = new BitSet();
        int all = 0;
        for (int q = 0; q < queues.length; q++) {
            Map<Integer, Integer> seen = new HashMap<>();
            for (int i = 0; i != queues[q].completed(); i++) {
                int flow = sourcePort(b, queues[q], i);
                long buffer = b.guest.getLong(queues[q].descriptor(i) + ReceiveDescriptor.ADDRESS);
                assertEquals(seen.merge(flow, 1, Integer::sum) - 1, b.guest.getByte(buffer + 42), "in order");
                Integer other = queueOf.putIfAbsent(flow, q);
                assertTrue(other == null || other == q, "a flow is in one queue");
                used.set(q);
                all++;
            }
        }
        assertEquals(120, all);
        assertEquals(4, used.cardinality(), "all queues are used");
        b.guest.write32(0, AggRegisters.QUEUE_PAIRS, 1);
        int before = b.rx.completed();
        for (int flow = 0; flow < 40; flow++) {
            a.send(Frames.udp(b.mac(), a.mac(), 1000 + flow, 53, 20));
            a.completions();
        }
        assertEquals(40, b.rx.completed() - before, "with one pair all are in the first");
    }

    @Test
    void queueWithoutBuffersHoldsUpNoOther() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 256).start(VnicDevice.FEATURES, 0);
        SimulatedQueue second = receiveQueue(b, 1);
        b.guest.write32(0, AggRegisters.QUEUE_PAIRS, 2);
        for (int flow = 0; flow < 60; flow++) {
            a.send(Frames.udp(b.mac(), a.mac(), 1000 + flow, 53, 20));
            a.completions();
        }
        int held = b.device.port().queuedFrames();
        assertTrue(held > 0 && second.completed() > 0);
        assertEquals(60, held + second.completed());
        b.post(64);
        assertEquals(held, b.receive().size());
    }

    @Test
    void withoutMsixThePinStaysUntilTheDriverHasSeenTheEvents() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048);
        b.guest.interrupts().messageSignalled(false);
        b.start();
        assertEquals(AggRegisters.EVENT_LINK, b.guest.read32(0, AggRegisters.EVENT_STATUS));
        assertTrue(b.guest.interrupts().pin());
        b.guest.write32(0, AggRegisters.EVENT_STATUS, AggRegisters.EVENT_LINK);
        assertFalse(b.guest.interrupts().pin());
        b.rx.wantInterrupt(0);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        assertEquals(AggRegisters.EVENT_QUEUE, b.guest.read32(0, AggRegisters.EVENT_STATUS));
        assertTrue(b.guest.interrupts().pin());
        b.device.setAdminUp(false);
        b.guest.write32(0, AggRegisters.EVENT_STATUS, AggRegisters.EVENT_QUEUE);
        assertTrue(b.guest.interrupts().pin(), "another event is there");
        b.guest.write32(0, AggRegisters.EVENT_STATUS, -1);
        assertFalse(b.guest.interrupts().pin());
        assertEquals(0, b.guest.interrupts().total(), "no message in this mode");
        b.guest.write32(0, AggRegisters.CONTROL, AggRegisters.CONTROL_RESET);
        assertFalse(b.guest.interrupts().pin());
    }

    @Test
    void linkThatIsTakenDownLosesWhatIsQueuedAndComesBack() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048).start(VnicDevice.FEATURES, 0);
        long events = b.guest.interrupts().count(SimulatedNic.EVENT_VECTOR);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        b.device.setAdminUp(false);
        assertEquals(events + 1, b.guest.interrupts().count(SimulatedNic.EVENT_VECTOR));
        assertEquals(0, b.guest.read32(0, AggRegisters.STATUS) & AggRegisters.STATUS_LINK_UP);
        assertEquals(0, fabric.allocated());
        a.send(Frames.frame(b.mac(), a.mac(), 60, 2));
        assertEquals(2, b.count("rx_dropped_down"));
        b.send(Frames.frame(a.mac(), b.mac(), 60, 3));
        assertEquals(List.of(TransmitCompletion.LINK_DOWN), b.completions());
        b.device.setAdminUp(false);
        assertEquals(events + 1, b.guest.interrupts().count(SimulatedNic.EVENT_VECTOR), "no change, no event");
        b.device.setAdminUp(true);
        assertEquals(events + 2, b.guest.interrupts().count(SimulatedNic.EVENT_VECTOR));
        b.post(8);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 4));
        assertEquals(1, b.take().size(), "nothing of before");
    }
}
