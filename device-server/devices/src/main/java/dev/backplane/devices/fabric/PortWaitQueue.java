// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/** Senders that wait for room at one output port. What is granted is a charge for at least one of the largest frames. */
final class PortWaitQueue extends WaitQueue {
    private final OutputPort port;

    PortWaitQueue(OutputPort port) {
        super(port.core().workers());
        this.port = port;
    }

    @Override
    protected boolean grant(Waiter waiter) {
        if (port.state() != PortState.UP) {
            // Down or stuck: nobody waits for such a port. The sender finds out what to do with its frame.
            waiter.charge = 0;
            return true;
        }
        int cells = Math.max(waiter.need, port.core().grantCells());
        waiter.charge = cells;
        return port.charge(cells, 0, port.quotaCells());
    }

    @Override
    protected void revoke(Waiter waiter) {
        port.uncharge(waiter.charge, 0);
    }

    @Override
    public String toString() {
        return "waiters of " + port;
    }
}
