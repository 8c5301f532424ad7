// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestRange;
import java.lang.invoke.VarHandle;

/**
 * One activation of a queue: its rings and indices in guest memory, from the moment the driver enables it until it ends.
 * Used by the queue's loop only, inside a use of the guest's memory.
 */
final class Ring {
    final GuestRange descriptors;
    final GuestRange completions;
    final GuestRange indices;
    final int size;

    Ring(
            GuestMemory memory,
            long descriptors,
            int descriptorBytes,
            long completions,
            int completionBytes,
            long indices,
            int size) {
        this.descriptors = new GuestRange(memory, descriptors, (long) size * descriptorBytes);
        this.completions = new GuestRange(memory, completions, (long) size * completionBytes);
        this.indices = new GuestRange(memory, indices, QueueIndices.BYTES);
        this.size = size;
    }

    /** Looks everything up again if windows have changed; comes first in each use. */
    void refresh() {
        descriptors.refresh();
        completions.refresh();
        indices.refresh();
    }

    /** Place in the ring of a free-running index. */
    int place(int index) {
        return index & size - 1;
    }

    /**
     * One past the last descriptor that the driver has made available. What it wrote into the descriptors before is
     * visible then: acquire, the partner of the release in bp_agg_ring_publish() of the driver.
     */
    int producer() {
        return indices.getIntAcquire(QueueIndices.PRODUCER);
    }

    /**
     * Publishes completions. Release: whoever reads the index with acquire (bp_agg_ring_completed() of the driver) sees the completions
     * and, for receive, the data.
     */
    void completed(int index) {
        indices.setIntRelease(QueueIndices.COMPLETED, index);
    }

    /**
     * Asks for a doorbell once the driver's producer index passes {@code producer}, and looks whether it has already.
     *
     * <p>The race: the driver stores its index and reads our event index, we store the event index and read its index.
     * Both put a full fence between (bp_agg_ring_publish() of the driver), so it rings or we see.
     *
     * @return whether the driver has gone on meanwhile, so that it may not ring
     */
    boolean wantDoorbell(int producer) {
        indices.setInt(QueueIndices.DOORBELL_EVENT, producer);
        VarHandle.fullFence();
        return producer() != producer;
    }

    /**
     * Whether the driver wants an interrupt for the completions from {@code from} to {@code to}, after {@link
     * #completed}.
     *
     * <p>The race: we store the completed index and read its event index, the driver stores the event index and reads
     * the completed index. Both put a full fence between (bp_agg_ring_arm() of the driver), so we interrupt or it polls on.
     */
    boolean wantsInterrupt(int from, int to) {
        VarHandle.fullFence();
        int event = indices.getInt(QueueIndices.INTERRUPT_EVENT);
        return Integer.compareUnsigned(to - event - 1, to - from) < 0;
    }
}
