// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.guest;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.agg.QueueIndices;
import dev.backplane.devices.agg.QueueRegisters;
import dev.backplane.devices.agg.ReceiveCompletion;
import dev.backplane.devices.agg.ReceiveDescriptor;
import dev.backplane.devices.agg.TransmitCompletion;
import dev.backplane.devices.agg.TransmitDescriptor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/** A driver of the aggregation device that can send a frame and receive one. */
public final class RemoteNic extends RemoteDevice {
    private static final int SIZE = 16;
    private static final int BUFFER = 2048;
    private static final int RECEIVE = AggRegisters.MAX_QUEUE_PAIRS;

    private final long txDescriptors = allocate((long) SIZE * TransmitDescriptor.BYTES, 64);
    private final long txCompletions = allocate((long) SIZE * TransmitCompletion.BYTES, 64);
    private final long txIndices = allocate(QueueIndices.BYTES, 64);
    private final long rxDescriptors = allocate((long) SIZE * ReceiveDescriptor.BYTES, 64);
    private final long rxCompletions = allocate((long) SIZE * ReceiveCompletion.BYTES, 64);
    private final long rxIndices = allocate(QueueIndices.BYTES, 64);
    private final long txBuffers = allocate((long) SIZE * BUFFER, 4096);
    private final long rxBuffers = allocate((long) SIZE * BUFFER, 4096);
    private int sent;
    private int received;

    /** Connects and enables the device; all receive buffers are posted. */
    public RemoteNic(Path socket) throws IOException {
        this(socket, true);
    }

    /** @param shared whether the device may access memory by itself */
    public RemoteNic(Path socket, boolean shared) throws IOException {
        super(socket, 1 << 20, shared);
        setUp();
    }

    /** As a driver after a reset: posts all receive buffers and enables the device. */
    public final void setUp() throws IOException {
        enableBus();
        sent = 0;
        received = 0;
        at(txIndices, QueueIndices.BYTES).fill((byte) 0);
        at(rxIndices, QueueIndices.BYTES).fill((byte) 0);
        enable(0, txDescriptors, txCompletions, txIndices);
        enable(RECEIVE, rxDescriptors, rxCompletions, rxIndices);
        for (int i = 0; i < SIZE; i++) {
            MemorySegment d = at(rxDescriptors + (long) i * ReceiveDescriptor.BYTES, ReceiveDescriptor.BYTES);
            d.set(LONG, ReceiveDescriptor.ADDRESS, rxBuffers + (long) i * BUFFER);
            d.set(INT, ReceiveDescriptor.LENGTH, BUFFER);
        }
        publish(RECEIVE, rxIndices, SIZE);
        write32(0, AggRegisters.CONTROL, AggRegisters.CONTROL_ENABLE);
    }

    private void enable(int queue, long descriptors, long completions, long indices) throws IOException {
        long block = AggRegisters.QUEUES + (long) queue * QueueRegisters.BYTES;
        write64(block + QueueRegisters.DESCRIPTORS, descriptors);
        write64(block + QueueRegisters.COMPLETIONS, completions);
        write64(block + QueueRegisters.INDICES, indices);
        write32(0, block + QueueRegisters.SIZE, SIZE);
        write32(0, block + QueueRegisters.VECTOR, AggRegisters.NO_VECTOR & 0xffff_ffffL);
        write32(0, block + QueueRegisters.CONTROL, QueueRegisters.ENABLE);
    }

    private void publish(int queue, long indices, int producer) throws IOException {
        WORD.setRelease(at(indices, QueueIndices.BYTES), (long) QueueIndices.PRODUCER, producer);
        ring(0, AggRegisters.DOORBELLS + (long) queue * AggRegisters.DOORBELL_STRIDE);
    }

    /** Whether the link is up. */
    public boolean linkUp() throws IOException {
        return (read32(AggRegisters.STATUS) & AggRegisters.STATUS_LINK_UP) != 0;
    }

    /** Sends a frame and returns the status of its completion. */
    public int send(byte[] frame) throws IOException {
        int slot = post(frame);
        awaitDevice("completion of frame " + sent, () -> completed(txIndices) == sent);
        return at(txCompletions + (long) slot * TransmitCompletion.BYTES, TransmitCompletion.BYTES)
                .get(INT, TransmitCompletion.STATUS);
    }

    /** Hands a frame over and waits for nothing; returns its place in the ring. */
    public int post(byte[] frame) throws IOException {
        int slot = sent++ % SIZE;
        long buffer = txBuffers + (long) slot * BUFFER;
        MemorySegment.copy(frame, 0, at(buffer, frame.length), ValueLayout.JAVA_BYTE, 0, frame.length);
        MemorySegment d = at(txDescriptors + (long) slot * TransmitDescriptor.BYTES, TransmitDescriptor.BYTES);
        d.fill((byte) 0);
        d.set(LONG, TransmitDescriptor.ADDRESS, buffer);
        d.set(INT, TransmitDescriptor.LENGTH, frame.length);
        d.set(SHORT, TransmitDescriptor.FLAGS, (short) TransmitDescriptor.END_OF_FRAME);
        publish(0, txIndices, sent);
        return slot;
    }

    /** Waits for the next frame. */
    public byte[] receive() throws IOException {
        int index = received++;
        awaitDevice("frame " + index, () -> completed(rxIndices) - index > 0);
        int slot = index % SIZE;
        int length = at(rxCompletions + (long) slot * ReceiveCompletion.BYTES, ReceiveCompletion.BYTES)
                .get(INT, ReceiveCompletion.FRAME_LENGTH);
        byte[] frame = at(rxBuffers + (long) slot * BUFFER, length).toArray(ValueLayout.JAVA_BYTE);
        publish(RECEIVE, rxIndices, received + SIZE);
        return frame;
    }

    private int completed(long indices) {
        return (int) WORD.getAcquire(at(indices, QueueIndices.BYTES), (long) QueueIndices.COMPLETED);
    }
}
