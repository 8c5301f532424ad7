// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.loop.SlowLane;
import dev.backplane.vfiouser.device.DeviceLink;

/**
 * The queues of a vNIC, by the numbers that doorbells and registers have for them: transmit queues first, then receive
 * queues, whose loop is the output port's. A queue that is <em>enabled</em> has registers that its driver has set; it is
 * <em>active</em>, which means that its loop has a ring to work on, while the device runs and is not stopped. Only the
 * client's thread calls, unless a method says otherwise.
 */
final class VnicQueues {
    private final VnicDevice device;
    private final VnicState state;
    private final TransmitQueue[] transmit = new TransmitQueue[AggRegisters.MAX_QUEUE_PAIRS];
    private final VnicPort receive;
    private final SlowLane lane;

    VnicQueues(VnicDevice device, FabricCore core, ForwardingDomain domain, VnicPort receive) {
        this.device = device;
        this.state = device.state();
        this.receive = receive;
        this.lane = new SlowLane(device.node().name() + ".agg slow");
        for (int i = 0; i < transmit.length; i++) {
            transmit[i] = new TransmitQueue(new QueueLink(device, i), core, domain, receive);
        }
    }

    /** The driver has rung a queue's doorbell. */
    void doorbell(int queue) {
        if (queue < AggRegisters.MAX_QUEUE_PAIRS) {
            device.count().txDoorbells.increment();
        } else {
            device.count().rxDoorbells.increment();
        }
        wake(queue);
    }

    /** Enables a queue with the registers that it has, or disables it. When disabled it has stopped on return. */
    void enable(int queue, boolean enable) {
        int at = VnicState.queue(queue);
        boolean enabled = state.getInt(at + QueueRegisters.CONTROL) != 0;
        if (enable == enabled) {
            return;
        }
        state.setInt(at + QueueRegisters.CONTROL, enable ? QueueRegisters.ENABLE : 0);
        if (!enable) {
            link(queue).activate(null);
            awaitUses();
            wake(queue);
            state.forgetQueue(queue);
            return;
        }
        int error = QueueSetup.check(state, queue, device.link());
        if (error != 0) {
            state.setInt(at + QueueRegisters.STATE, QueueStatus.STOPPED.code());
            state.setInt(at + QueueRegisters.ERROR, error);
            state.getAndOr(AggRegisters.QUEUE_ERRORS, 1 << queue);
            device.count().queueErrors.increment();
            return;
        }
        state.setInt(at + QueueRegisters.STATE, QueueStatus.RUNNING.code());
        if (device.status() == VnicStatus.RUNNING) {
            activate(queue);
            wake(queue);
        }
    }

    /** Gives the loops of all queues that are enabled and run their rings. */
    void activateAll() {
        for (int q = 0; q < VnicState.QUEUES; q++) {
            if (QueueStatus.of(state.getInt(VnicState.queue(q) + QueueRegisters.STATE)) == QueueStatus.RUNNING) {
                activate(q);
            }
        }
    }

    /**
     * Takes all rings away: when this returns, no loop touches guest memory or signals on behalf of what was before. A
     * loop looks at its ring inside a use of the memory; the ring is taken away first, then all uses are waited for.
     */
    void deactivateAll() {
        for (int q = 0; q < VnicState.QUEUES; q++) {
            link(q).activate(null);
        }
        awaitUses();
    }

    /** Lets all loops look at what they have: one whose ring was taken away gives back what it holds or waits for. */
    void wakeAll() {
        for (TransmitQueue t : transmit) {
            t.wake();
        }
        receive.wake();
    }

    /**
     * The guest's memory, or a part of it, is not shared with the server: all of the vNIC's loops leave the threads that
     * others depend on, until {@link #goFast}. Any thread.
     */
    void goSlow() {
        DeviceLink guest = device.link();
        if (guest != null) {
            lane.serve(guest.memory());
            runOn(lane);
        }
    }

    /** The loops run where all others do. */
    void goFast() {
        runOn(null);
    }

    private void runOn(SlowLane where) {
        for (TransmitQueue t : transmit) {
            t.runOn(where);
        }
        receive.runOn(where);
    }

    /** While the device is stopped a queue that is enabled becomes active only when it goes on. */
    private void activate(int queue) {
        if (!device.stopped()) {
            if (!QueueSetup.shared(state, queue, device.link().memory())) {
                goSlow();
            }
            link(queue).activate(QueueSetup.ring(state, queue, device.link()));
        }
    }

    private QueueLink link(int queue) {
        return queue < AggRegisters.MAX_QUEUE_PAIRS
                ? transmit[queue].link()
                : receive.queue(queue - AggRegisters.MAX_QUEUE_PAIRS).link();
    }

    private void wake(int queue) {
        if (queue < AggRegisters.MAX_QUEUE_PAIRS) {
            transmit[queue].wake();
        } else {
            receive.wake();
        }
    }

    private void awaitUses() {
        DeviceLink guest = device.link();
        if (guest != null) {
            guest.memory().awaitUses();
        }
    }
}
