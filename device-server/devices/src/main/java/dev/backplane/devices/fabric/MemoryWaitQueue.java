// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.Workers;

/** Senders that wait for a place in rendezvous memory. */
final class MemoryWaitQueue extends WaitQueue {
    private final RendezvousMemory memory;
    private final int grantCells;

    MemoryWaitQueue(Workers workers, RendezvousMemory memory, int grantCells) {
        super(workers);
        this.memory = memory;
        this.grantCells = grantCells;
    }

    @Override
    protected boolean grant(Waiter waiter) {
        // As many cells for everybody, so that those who send large frames and those who send small ones share alike.
        int cells = Math.min(Math.max(waiter.need, grantCells), memory.cells().available());
        return waiter.places.take(Math.max(waiter.need, cells), Math.max(1, cells))
                || waiter.places.take(waiter.need, 1);
    }

    @Override
    protected void revoke(Waiter waiter) {
        waiter.places.giveBack();
    }

    @Override
    public String toString() {
        return "waiters for rendezvous memory";
    }
}
