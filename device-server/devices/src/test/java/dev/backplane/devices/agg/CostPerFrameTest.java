// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.backplane.devices.MacAddress;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.sim.CountedMemory;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a frame costs, in counts that are the same on every machine: doorbells, interrupts, hand-offs to other threads,
 * bytes copied, heap. A change that makes a frame dearer fails here, not in a benchmark.
 */
@Timeout(60)
class CostPerFrameTest {
    private static final int BATCH = 32;
    private static final int ROUNDS = 50;

    /** A driver that makes frames available in batches: its doorbells and interrupts are by the batch. */
    @Test
    void batchCostsOneDoorbellAndOneInterruptEachWay() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            byte[] frame = Frames.udp(b.mac(), a.mac(), 1, 2, 64);
            for (int round = 0; round < ROUNDS; round++) {
                a.tx.wantInterrupt(a.tx.producer);
                b.rx.wantInterrupt(b.rx.consumed);
                for (int i = 0; i < BATCH; i++) {
                    a.prepare(frame, frame.length);
                }
                a.tx.publish();
                assertEquals(BATCH, b.receive().size());
                assertEquals(BATCH, a.completions().size());
            }
            assertTrue(a.tx.doorbells <= ROUNDS, a.tx.doorbells + " doorbells of the sender");
            // The device had buffers left in every round: it never asked for the doorbell of a refill.
            assertTrue(b.rx.doorbells <= 1, b.rx.doorbells + " doorbells of the receiver");
            assertEquals(ROUNDS, a.guest.interrupts().count(SimulatedNic.TX_VECTOR), "the sender's interrupts");
            assertEquals(ROUNDS, b.guest.interrupts().count(SimulatedNic.RX_VECTOR), "the receiver's interrupts");
            assertEquals(0, fabric.workers.counters().get("submitted"), "turns that another thread had to take");
        }
    }

    /** One frame at a time, as in a ping: a doorbell and an interrupt there, the same back, and nothing else. */
    @Test
    void singleFrameCostsOneDoorbellAndOneInterrupt() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            byte[] there = Frames.udp(b.mac(), a.mac(), 1, 2, 64);
            byte[] back = Frames.udp(a.mac(), b.mac(), 2, 1, 64);
            for (int round = 0; round < ROUNDS; round++) {
                b.rx.wantInterrupt(b.rx.consumed);
                a.rx.wantInterrupt(a.rx.consumed);
                a.send(there);
                assertEquals(1, b.receive().size());
                b.send(back);
                assertEquals(1, a.receive().size());
            }
            for (SimulatedNic nic : fabric.nics) {
                assertTrue(nic.tx.doorbells <= ROUNDS, nic.device + " rang " + nic.tx.doorbells + " times");
                assertTrue(nic.rx.doorbells <= 1, nic.device + " rang for buffers " + nic.rx.doorbells + " times");
                assertEquals(ROUNDS, nic.guest.interrupts().count(SimulatedNic.RX_VECTOR));
                // Nobody wants to hear that a frame has been sent.
                assertTrue(nic.guest.interrupts().count(SimulatedNic.TX_VECTOR) <= 1);
            }
            assertEquals(0, fabric.workers.counters().get("submitted"), "turns that another thread had to take");
        }
    }

    /** A driver that polls asks for no interrupt, and gets none. */
    @Test
    void pollingDriverIsNeverInterrupted() {
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            byte[] frame = Frames.udp(b.mac(), a.mac(), 1, 2, 64);
            a.tx.wantInterrupt(a.tx.producer - 1);
            b.rx.wantInterrupt(b.rx.consumed - 1);
            for (int i = 0; i < 1000; i++) {
                a.send(frame);
                assertEquals(1, b.receive().size());
            }
            assertEquals(0, a.guest.interrupts().count(SimulatedNic.TX_VECTOR), "the sender's");
            assertEquals(0, b.guest.interrupts().count(SimulatedNic.RX_VECTOR), "the receiver's");
        }
    }

    /** The device touches each byte of a frame twice: once out of the sender's memory, once into the receiver's. */
    @ParameterizedTest
    @ValueSource(ints = {60, 1514, 9014, 65_000})
    void eachByteIsFetchedOnceAndStoredOnce(int bytes) {
        try (FabricFixture fabric = new FabricFixture()) {
            Counted a = new Counted(fabric, 1);
            Counted b = new Counted(fabric, 2);
            byte[] frame = Frames.frame(b.nic.mac(), a.nic.mac(), bytes, 7);
            for (int round = 1; round <= 5; round++) {
                a.send(frame);
                assertEquals((long) round * bytes, a.memory.bytesRead(), "bytes fetched");
                assertEquals((long) round * bytes, b.memory.bytesWritten(), "bytes stored");
                assertArrayEquals(frame, b.received(bytes));
            }
            assertEquals(0, a.memory.bytesWritten() + b.memory.bytesRead(), "the other way");
        }
    }

    /** A broadcast is fetched once, however many ports it goes to, and lies in rendezvous memory once. */
    @Test
    void broadcastIsFetchedOnceForAllPorts() {
        int receivers = 7;
        int bytes = 1000;
        try (FabricFixture fabric = new FabricFixture()) {
            Counted a = new Counted(fabric, 1);
            Counted[] others = new Counted[receivers];
            Arrays.setAll(others, i -> new Counted(fabric, i + 2));
            byte[] frame = Frames.frame(MacAddress.BROADCAST, a.nic.mac(), bytes, 7);
            a.send(frame);
            assertEquals(bytes, a.memory.bytesRead(), "bytes fetched");
            for (Counted other : others) {
                assertEquals(bytes, other.memory.bytesWritten(), "bytes stored");
                assertArrayEquals(frame, other.received(bytes));
            }
        }
    }

    /** Kinds of frames whose way through the device differs; the smallest batch of several has to cost no heap at all. */
    @ParameterizedTest
    @CsvSource({"2, 60, false", "2, 1514, false", "2, 65000, false", "8, 60, true", "16, 60, false"})
    void noHeapPerFrame(int ports, int bytes, boolean broadcast) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (FabricFixture fabric =
                new FabricFixture(FabricConfig.defaults().withMaxPorts(64).withRendezvousBytes(16 << 20))) {
            SimulatedNic[] nics = new SimulatedNic[ports];
            Arrays.setAll(
                    nics,
                    i -> fabric.add(i + 1, PortConfig.defaults(), 64, Math.max(128, bytes))
                            .start());
            for (int i = 0; i < ports; i++) {
                nics[i].guest.write32(0, AggRegisters.MTU, AggRegisters.MAX_MTU);
                byte[] frame = Frames.frame(
                        broadcast ? MacAddress.BROADCAST : nics[(i + 1) % ports].mac(), nics[i].mac(), bytes, i);
                for (int d = 0; d < nics[i].tx.size; d++) {
                    nics[i].prepare(frame, bytes);
                }
                nics[i].tx.producer = 0;
            }
            long least = Long.MAX_VALUE;
            int passes = 4000 / ports;
            // The virtual machine itself allocates now and then, while it warms up above all.
            for (int window = 0; window < 20 && least != 0; window++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int pass = 0; pass < passes; pass++) {
                    pass(nics);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least, "bytes of heap in the cheapest of 20 windows of " + passes * ports + " frames");
        }
    }

    private static void pass(SimulatedNic[] nics) {
        for (SimulatedNic nic : nics) {
            nic.tx.producer++;
            nic.tx.publish();
            for (SimulatedNic other : nics) {
                int free = other.rx.completed() + other.rx.size;
                if (free != other.rx.producer) {
                    other.rx.producer = free;
                    other.rx.publish();
                }
            }
        }
    }

    /** A guest whose frames lie in memory that is counted; its rings are where they always are. */
    private static final class Counted {
        private static final int ROOM = 65_536;

        final SimulatedNic nic;
        final CountedMemory memory;
        private final long data;

        Counted(FabricFixture fabric, int id) {
            nic = fabric.add(id, PortConfig.defaults(), 64, 2048);
            memory = new CountedMemory(nic.guest, 64L * ROOM);
            data = memory.allocate(ROOM);
            nic.guest.write32(0, AggRegisters.MTU, AggRegisters.MAX_MTU);
            nic.start(VnicDevice.FEATURES, 0);
            for (int i = 0; i < 8; i++) {
                long at = nic.rx.descriptor(i);
                nic.guest.setLong(at + ReceiveDescriptor.ADDRESS, memory.allocate(ROOM));
                nic.guest.setInt(at + ReceiveDescriptor.LENGTH, ROOM);
            }
            nic.rx.producer = 8;
            nic.rx.publish();
        }

        void send(byte[] frame) {
            memory.at(data, frame.length).asByteBuffer().put(frame);
            long at = nic.tx.descriptor(nic.tx.producer);
            nic.guest.at(at, TransmitDescriptor.BYTES).fill((byte) 0);
            nic.guest.setLong(at + TransmitDescriptor.ADDRESS, data);
            nic.guest.setInt(at + TransmitDescriptor.LENGTH, frame.length);
            nic.guest.setShort(at + TransmitDescriptor.FLAGS, TransmitDescriptor.END_OF_FRAME);
            nic.tx.producer++;
            nic.tx.publish();
        }

        /** The next frame, which has to be there. */
        byte[] received(int bytes) {
            int index = nic.rx.consumed++;
            assertTrue(nic.rx.completed() - index > 0, "no frame " + index);
            long buffer = nic.guest.getLong(nic.rx.descriptor(index) + ReceiveDescriptor.ADDRESS);
            return memory.at(buffer, bytes).toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
