// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.agg.QueueIndices;
import dev.backplane.devices.agg.QueueRegisters;
import dev.backplane.devices.agg.ReceiveCompletion;
import dev.backplane.devices.agg.ReceiveDescriptor;
import dev.backplane.devices.agg.TransmitCompletion;
import dev.backplane.devices.agg.TransmitDescriptor;
import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * A node without a guest: this process is the driver of an aggregation device over a real socket, with a memfd as guest
 * memory. One queue pair, polled; what a frame costs here is the device server's cost and two doorbells at most.
 */
final class SimulatedNode implements AutoCloseable {
    static final int RING = 256;
    private static final int BUFFER = 2048;
    private static final long IOVA = 0x4000_0000L;

    private static final long TX_RING = 0x0;
    private static final long TX_DONE = 0x4000;
    private static final long TX_INDICES = 0x5000;
    private static final long RX_RING = 0x6000;
    private static final long RX_DONE = 0x8000;
    private static final long RX_INDICES = 0xa000;
    private static final long TX_DATA = 0x10000;
    private static final long RX_DATA = TX_DATA + (long) RING * BUFFER;
    private static final long BYTES = RX_DATA + (long) RING * BUFFER;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final VfioUserClient client;
    private final ClientMemory.Block block;
    private final MemorySegment memory;
    private final long mac;
    private int txProducer;
    private int rxProducer;
    private int rxConsumer;
    private long doorbells;

    SimulatedNode(Path socket) throws IOException {
        client = VfioUserClient.connect(socket);
        block = ClientMemory.allocate(BYTES);
        memory = block.memory();
        client.memory().map(IOVA, block);
        // Memory space and bus master enable (PCIe 6.2, 7.5.1.1.3).
        client.write(VfioUserClient.CONFIG, 4, 2, 6);
        mac = (client.readInt(0, AggRegisters.MAC_LOW) & 0xffff_ffffL)
                | ((long) client.readInt(0, AggRegisters.MAC_HIGH) << 32);
        client.writeInt(0, AggRegisters.CONTROL, AggRegisters.CONTROL_ENABLE);
        queue(0, TX_RING, TX_DONE, TX_INDICES);
        queue(AggRegisters.MAX_QUEUE_PAIRS, RX_RING, RX_DONE, RX_INDICES);
        // No interrupt is ever wanted: the event index stays half the range away.
        refill();
    }

    private void queue(int number, long ring, long done, long indices) throws IOException {
        long base = AggRegisters.QUEUES + (long) number * QueueRegisters.BYTES;
        client.write(0, base + QueueRegisters.DESCRIPTORS, 8, IOVA + ring);
        client.write(0, base + QueueRegisters.COMPLETIONS, 8, IOVA + done);
        client.write(0, base + QueueRegisters.INDICES, 8, IOVA + indices);
        client.write(0, base + QueueRegisters.SIZE, 4, RING);
        client.write(0, base + QueueRegisters.CONTROL, 4, QueueRegisters.ENABLE);
    }

    /** The node's MAC address, byte 0 in the low bits. */
    long mac() {
        return mac;
    }

    /** Doorbells rung so far. */
    long doorbells() {
        return doorbells;
    }

    /** Frames that can be sent now. */
    int room() {
        return RING - (txProducer - (int) INT.getAcquire(memory, TX_INDICES + QueueIndices.COMPLETED));
    }

    /** Queues a frame of {@code length} bytes to {@code destination}; {@link #flush} makes the device see it. */
    void send(long destination, int length) {
        int slot = txProducer & (RING - 1);
        long data = TX_DATA + (long) slot * BUFFER;
        putMac(data, destination);
        putMac(data + 6, mac);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, data + 12, (short) 0xb588);
        long descriptor = TX_RING + (long) slot * TransmitDescriptor.BYTES;
        memory.set(ValueLayout.JAVA_LONG, descriptor + TransmitDescriptor.ADDRESS, IOVA + data);
        memory.set(ValueLayout.JAVA_INT, descriptor + TransmitDescriptor.LENGTH, length);
        memory.set(
                ValueLayout.JAVA_SHORT, descriptor + TransmitDescriptor.FLAGS, (short) TransmitDescriptor.END_OF_FRAME);
        txProducer++;
    }

    /** Publishes what was queued, and rings the doorbell if the device wants it. */
    void flush() throws IOException {
        int old = (int) INT.get(memory, TX_INDICES + QueueIndices.PRODUCER);
        INT.setRelease(memory, TX_INDICES + QueueIndices.PRODUCER, txProducer);
        ring(TX_INDICES, old, txProducer, 0);
    }

    /** Takes what has arrived; returns the number of frames. */
    int receive() throws IOException {
        int completed = (int) INT.getAcquire(memory, RX_INDICES + QueueIndices.COMPLETED);
        int frames = 0;
        while (rxConsumer != completed) {
            long done = RX_DONE + (long) (rxConsumer & (RING - 1)) * ReceiveCompletion.BYTES;
            int flags = memory.get(ValueLayout.JAVA_SHORT, done + ReceiveCompletion.FLAGS);
            if ((flags & ReceiveCompletion.END_OF_FRAME) != 0) {
                frames++;
            }
            rxConsumer++;
        }
        if (frames > 0) {
            refill();
        }
        return frames;
    }

    /** Frames that completed with an error, among those still in the ring. */
    int errors() {
        int errors = 0;
        for (int i = 0; i < RING; i++) {
            if (memory.get(ValueLayout.JAVA_INT, TX_DONE + (long) i * TransmitCompletion.BYTES) != 0) {
                errors++;
            }
        }
        return errors;
    }

    private void refill() throws IOException {
        int old = rxProducer;
        while (rxProducer - rxConsumer != RING) {
            int slot = rxProducer & (RING - 1);
            long descriptor = RX_RING + (long) slot * ReceiveDescriptor.BYTES;
            memory.set(
                    ValueLayout.JAVA_LONG,
                    descriptor + ReceiveDescriptor.ADDRESS,
                    IOVA + RX_DATA + (long) slot * BUFFER);
            memory.set(ValueLayout.JAVA_INT, descriptor + ReceiveDescriptor.LENGTH, BUFFER);
            rxProducer++;
        }
        INT.setRelease(memory, RX_INDICES + QueueIndices.PRODUCER, rxProducer);
        ring(RX_INDICES, old, rxProducer, AggRegisters.MAX_QUEUE_PAIRS);
    }

    private void ring(long indices, int old, int now, int number) throws IOException {
        // As in the driver: publish, full fence, read the event index. Partner: the queues' turns in devices.agg.
        VarHandle.fullFence();
        int event = (int) INT.getAcquire(memory, indices + QueueIndices.DOORBELL_EVENT);
        if (Integer.compareUnsigned(now - event - 1, now - old) < 0) {
            client.post(0, AggRegisters.DOORBELLS + (long) number * AggRegisters.DOORBELL_STRIDE, 4, 1);
            doorbells++;
        }
    }

    private void putMac(long at, long value) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) value);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + 4, (short) (value >>> 32));
    }

    @Override
    public void close() {
        client.close();
        block.close();
    }
}
