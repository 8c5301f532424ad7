// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Struct;

/**
 * A memory output queue (MOQ, US 9,137,173): second descriptors for one output port, first in, first out, linked in
 * rendezvous memory. Any thread adds; the port's loop removes.
 *
 * <p>The descriptor at the head has been consumed; the one that it links to is the oldest in the queue. To add, a
 * producer exchanges the tail for its descriptor and links the former tail to it. Between the two the queue ends, for
 * the consumer, before the new descriptor; the producer wakes the port after it has linked, so nothing is forgotten.
 */
final class OutputQueue {
    static final Struct HEAD = Struct.memory("bp_output_queue", "Head of a memory output queue, in rendezvous memory.")
            .u32("tail", DEVICE, "Descriptor that was added last; exchanged by producers.")
            .reservedTo(64)
            .u32("head", DEVICE, "Descriptor that was removed last; the port's own.")
            .reservedTo(128)
            .size(128);

    static final int HEAD_BYTES = HEAD.size();

    private static final int TAIL = HEAD.offset("tail");
    private static final int HEAD_FIELD = HEAD.offset("head");

    private final RendezvousMemory owner;
    private final long at;

    /** An empty queue with its head at {@code at}; {@code first} is a descriptor for it to keep. */
    OutputQueue(RendezvousMemory owner, long at, int first) {
        this.owner = owner;
        this.at = at;
        RendezvousMemory.INTS.setRelease(owner.segment(), owner.descriptorOffset(first) + SecondDescriptor.NEXT, 0);
        owner.segment().set(RendezvousMemory.INT, at + HEAD_FIELD, first);
        RendezvousMemory.INTS.setRelease(owner.segment(), at + TAIL, first);
    }

    /** Adds a descriptor that is complete but for its link. */
    void add(int descriptor) {
        owner.segment().set(RendezvousMemory.INT, owner.descriptorOffset(descriptor) + SecondDescriptor.NEXT, 0);
        int before = (int) RendezvousMemory.INTS.getAndSet(owner.segment(), at + TAIL, descriptor);
        RendezvousMemory.INTS.setRelease(
                owner.segment(), owner.descriptorOffset(before) + SecondDescriptor.NEXT, descriptor);
    }

    /** The oldest descriptor, or 0. It stays. Only the port's loop. */
    int first() {
        int head = owner.segment().get(RendezvousMemory.INT, at + HEAD_FIELD);
        return (int)
                RendezvousMemory.INTS.getAcquire(owner.segment(), owner.descriptorOffset(head) + SecondDescriptor.NEXT);
    }

    /** Removes the oldest descriptor, which {@link #first} has just given; returns one that is free now. */
    int remove(int first) {
        int head = owner.segment().get(RendezvousMemory.INT, at + HEAD_FIELD);
        owner.segment().set(RendezvousMemory.INT, at + HEAD_FIELD, first);
        return head;
    }
}
