// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.agg.QueueIndices;
import dev.backplane.devices.agg.QueueRegisters;
import dev.backplane.devices.agg.ReceiveDescriptor;
import dev.backplane.devices.agg.TransmitCompletion;
import dev.backplane.devices.agg.TransmitDescriptor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * A node without a guest: this process is the driver of an aggregation device, over a real socket or in the same process.
 * One queue pair, polled. Buffers stay where they are, so descriptors are written once and sent again and again.
 */
final class SimulatedNode implements AutoCloseable {
    static final int RING = 256;
    private static final long IOVA = 0x4000_0000L;

    private static final long TX_RING = 0x0;
    private static final long TX_DONE = 0x4000;
    private static final long TX_INDICES = 0x5000;
    private static final long RX_RING = 0x6000;
    private static final long RX_DONE = 0x8000;
    private static final long RX_INDICES = 0xa000;
    private static final long TX_DATA = 0x10000;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /** The way to the device. */
    interface Access extends AutoCloseable {
        /** Gives the device memory at that guest address. */
        MemorySegment memory(long iova, long bytes) throws IOException;

        int read(long offset) throws IOException;

        void write(long offset, int width, long value) throws IOException;

        /** Writes four bytes without waiting for an answer. */
        void ring(long offset) throws IOException;

        @Override
        void close();
    }

    private final Access device;
    private final MemorySegment memory;
    private final long buffer;
    private final long mac;
    private int txProducer;
    private int rxProducer;
    private int rxConsumer;
    private long doorbells;

    /** A node on the socket of a server that runs. */
    static SimulatedNode connect(Path socket) throws IOException {
        return new SimulatedNode(new SocketAccess(socket), 2048);
    }

    /** Sets the device up; frames have at most {@code buffer} bytes. */
    SimulatedNode(Access device, long buffer) throws IOException {
        this.device = device;
        this.buffer = buffer;
        memory = device.memory(IOVA, TX_DATA + 2 * RING * buffer);
        mac = (device.read(AggRegisters.MAC_LOW) & 0xffff_ffffL) | ((long) device.read(AggRegisters.MAC_HIGH) << 32);
        device.write(AggRegisters.MTU, 4, AggRegisters.MAX_MTU);
        device.write(AggRegisters.CONTROL, 4, AggRegisters.CONTROL_ENABLE);
        queue(0, TX_RING, TX_DONE, TX_INDICES);
        queue(AggRegisters.MAX_QUEUE_PAIRS, RX_RING, RX_DONE, RX_INDICES);
        for (int slot = 0; slot < RING; slot++) {
            long descriptor = RX_RING + (long) slot * ReceiveDescriptor.BYTES;
            long data = TX_DATA + (RING + slot) * buffer;
            memory.set(ValueLayout.JAVA_LONG, descriptor + ReceiveDescriptor.ADDRESS, IOVA + data);
            memory.set(ValueLayout.JAVA_INT, descriptor + ReceiveDescriptor.LENGTH, (int) buffer);
        }
        // No interrupt is ever wanted: the event index stays half the range away.
        memory.set(ValueLayout.JAVA_INT, TX_INDICES + QueueIndices.INTERRUPT_EVENT, Integer.MIN_VALUE);
        memory.set(ValueLayout.JAVA_INT, RX_INDICES + QueueIndices.INTERRUPT_EVENT, Integer.MIN_VALUE);
        refill();
    }

    private void queue(int number, long ring, long done, long indices) throws IOException {
        long base = AggRegisters.QUEUES + (long) number * QueueRegisters.BYTES;
        device.write(base + QueueRegisters.DESCRIPTORS, 8, IOVA + ring);
        device.write(base + QueueRegisters.COMPLETIONS, 8, IOVA + done);
        device.write(base + QueueRegisters.INDICES, 8, IOVA + indices);
        device.write(base + QueueRegisters.SIZE, 4, RING);
        device.write(base + QueueRegisters.CONTROL, 4, QueueRegisters.ENABLE);
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

    /** Fills all transmit descriptors with a frame of {@code length} bytes to {@code destination}. */
    void prepare(long destination, int length) {
        for (int slot = 0; slot < RING; slot++) {
            long data = TX_DATA + slot * buffer;
            putMac(data, destination);
            putMac(data + 6, mac);
            memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, data + 12, (short) 0xb588);
            long descriptor = TX_RING + (long) slot * TransmitDescriptor.BYTES;
            memory.set(ValueLayout.JAVA_LONG, descriptor + TransmitDescriptor.ADDRESS, IOVA + data);
            memory.set(ValueLayout.JAVA_INT, descriptor + TransmitDescriptor.LENGTH, length);
            memory.set(ValueLayout.JAVA_SHORT, descriptor + TransmitDescriptor.FLAGS, (short)
                    TransmitDescriptor.END_OF_FRAME);
        }
    }

    /** Sends the next {@code frames} prepared frames, and rings the doorbell if the device wants it. */
    void send(int frames) throws IOException {
        int old = txProducer;
        txProducer += frames;
        INT.setRelease(memory, TX_INDICES + QueueIndices.PRODUCER, txProducer);
        ring(TX_INDICES, old, txProducer, 0);
    }

    /** Takes what has arrived and gives its buffers back; returns the number of frames, one in a buffer. */
    int receive() throws IOException {
        int completed = (int) INT.getAcquire(memory, RX_INDICES + QueueIndices.COMPLETED);
        int frames = completed - rxConsumer;
        if (frames > 0) {
            rxConsumer = completed;
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
        rxProducer = rxConsumer + RING;
        INT.setRelease(memory, RX_INDICES + QueueIndices.PRODUCER, rxProducer);
        ring(RX_INDICES, old, rxProducer, AggRegisters.MAX_QUEUE_PAIRS);
    }

    private void ring(long indices, int old, int now, int number) throws IOException {
        // As in the driver: publish, full fence, read the event index. Partner: the queues' turns in devices.agg.
        VarHandle.fullFence();
        int event = (int) INT.getAcquire(memory, indices + QueueIndices.DOORBELL_EVENT);
        if (Integer.compareUnsigned(now - event - 1, now - old) < 0) {
            device.ring(AggRegisters.DOORBELLS + (long) number * AggRegisters.DOORBELL_STRIDE);
            doorbells++;
        }
    }

    private void putMac(long at, long value) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) value);
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + 4, (short) (value >>> 32));
    }

    @Override
    public void close() {
        device.close();
    }
}
