// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.sim.SimulatedGuest;
import java.lang.invoke.VarHandle;

/** One ring as a driver keeps it: guest memory for it, the driver's indices, doorbells by event index. */
class SimulatedQueue {
    final SimulatedGuest guest;
    final int queue;
    final int size;
    final long descriptors;
    final long completions;
    final long indices;
    private final int descriptorBytes;
    private final int completionBytes;
    int producer;
    int consumed;
    private int rung;
    long doorbells;

    /** Allocates the ring; block number {@code queue} as in {@link QueueRegisters}. */
    SimulatedQueue(SimulatedGuest guest, int queue, int size) {
        this.guest = guest;
        this.queue = queue;
        this.size = size;
        boolean transmit = queue < AggRegisters.MAX_QUEUE_PAIRS;
        this.descriptorBytes = transmit ? TransmitDescriptor.BYTES : ReceiveDescriptor.BYTES;
        this.completionBytes = transmit ? TransmitCompletion.BYTES : ReceiveCompletion.BYTES;
        this.descriptors = guest.allocate((long) size * descriptorBytes);
        this.completions = guest.allocate((long) size * completionBytes);
        this.indices = guest.allocate(QueueIndices.BYTES);
    }

    long register(int register) {
        return (long) VnicState.queue(queue) + register;
    }

    /** Writes the queue's registers and enables it. */
    void enable(int vector) {
        guest.write64(0, register(QueueRegisters.DESCRIPTORS), descriptors);
        guest.write64(0, register(QueueRegisters.COMPLETIONS), completions);
        guest.write64(0, register(QueueRegisters.INDICES), indices);
        guest.write32(0, register(QueueRegisters.SIZE), size);
        guest.write32(0, register(QueueRegisters.VECTOR), vector);
        guest.write32(0, register(QueueRegisters.CONTROL), QueueRegisters.ENABLE);
    }

    void disable() {
        guest.write32(0, register(QueueRegisters.CONTROL), 0);
    }

    /** As a driver does before it enables a ring again: all indices and entries anew. */
    void clear() {
        guest.at(descriptors, (long) size * descriptorBytes).fill((byte) 0);
        guest.at(completions, (long) size * completionBytes).fill((byte) 0);
        guest.at(indices, QueueIndices.BYTES).fill((byte) 0);
        producer = 0;
        consumed = 0;
        rung = 0;
    }

    int state() {
        return guest.read32(0, register(QueueRegisters.STATE));
    }

    int error() {
        return guest.read32(0, register(QueueRegisters.ERROR));
    }

    long descriptor(int index) {
        return descriptors + (long) (index & size - 1) * descriptorBytes;
    }

    long completion(int index) {
        return completions + (long) (index & size - 1) * completionBytes;
    }

    int space() {
        return size - (producer - consumed);
    }

    /** Makes descriptors available up to {@code producer}, and rings the doorbell if the device wants it. */
    void publish() {
        guest.setIntRelease(indices + QueueIndices.PRODUCER, producer);
        VarHandle.fullFence(); // as in bp_agg_ring_publish()
        int event = guest.getInt(indices + QueueIndices.DOORBELL_EVENT);
        if (Integer.compareUnsigned(producer - event - 1, producer - rung) < 0) {
            ring();
        }
        rung = producer;
    }

    /** Rings the doorbell. */
    void ring() {
        doorbells++;
        guest.write32(0, AggRegisters.DOORBELLS + (long) queue * AggRegisters.DOORBELL_STRIDE, 0x5eed);
    }

    /** The device's index, with acquire as in bp_agg_ring_completed(). */
    int completed() {
        return guest.getIntAcquire(indices + QueueIndices.COMPLETED);
    }

    /** Asks for an interrupt once {@code index} is passed; returns whether that is so already. */
    boolean wantInterrupt(int index) {
        guest.setInt(indices + QueueIndices.INTERRUPT_EVENT, index);
        VarHandle.fullFence(); // as in bp_agg_ring_arm()
        return completed() != index;
    }
}
