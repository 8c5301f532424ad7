// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.DrainLoop;
import java.util.concurrent.atomic.AtomicReference;

/** A sender's place in a {@link WaitQueue}. In at most one queue at a time. */
final class Waiter {
    /**
     * What a waiter is doing. IDLE to WAITING by the sender, before it enters a queue; WAITING to GRANTED by the queue;
     * GRANTED to IDLE by the sender, when it takes what was granted; WAITING to CANCELLED by the sender, which then
     * forgets this waiter. There are no other transitions.
     */
    enum State {
        IDLE,
        WAITING,
        GRANTED,
        CANCELLED
    }

    final DrainLoop sender;
    final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    /** Cells that the sender needs, for the next frame. */
    int need;
    /** Cells that an output port granted; written by its queue before GRANTED. */
    int charge;
    /** Cells and descriptors that the memory granted; written by its queue before GRANTED. */
    final Places places;

    /** Link of the list of those who have just entered. */
    Waiter next;

    Waiter(DrainLoop sender, RendezvousMemory memory) {
        this.sender = sender;
        this.places = new Places(memory);
    }
}
