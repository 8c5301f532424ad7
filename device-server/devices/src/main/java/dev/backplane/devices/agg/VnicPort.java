// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.FrameCursor;
import dev.backplane.devices.fabric.OutputPort;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.VlanTag;
import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.DeviceLink;

/** The output port of a vNIC: its lanes are the receive queues. */
final class VnicPort extends OutputPort {
    private final VnicDevice device;
    private final ReceiveQueue[] queues = new ReceiveQueue[AggRegisters.MAX_QUEUE_PAIRS];
    private final Timers.Timer retry;
    private DeviceLink guest;
    private int token;

    VnicPort(FabricCore core, int index, PortConfig config, VnicDevice device) {
        super(core, index, device.node().name(), config, device.count().port, AggRegisters.MAX_QUEUE_PAIRS);
        this.device = device;
        this.retry = device.timers().timer(this::wakeLater);
        FrameCursor cursor = new FrameCursor(core.memory());
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ReceiveQueue(new QueueLink(device, AggRegisters.MAX_QUEUE_PAIRS + i), cursor);
        }
    }

    ReceiveQueue queue(int i) {
        return queues[i];
    }

    /** Brings the link up or down; returns whether that was a change. The caller wakes the port then. */
    boolean setLink(boolean up) {
        return link(up);
    }

    @Override
    protected boolean beginTurn() {
        guest = device.link();
        if (guest == null) {
            return false;
        }
        token = guest.memory().enter();
        if (!guest.busMaster()) {
            guest.memory().exit(token);
            device.count().notBusMaster.increment();
            retry.arm(device.timers().now() + TransmitQueue.RETRY_NANOS);
            return false;
        }
        for (ReceiveQueue q : queues) {
            q.begin();
        }
        return true;
    }

    @Override
    protected Delivery deliver(Frame f, int lane) {
        ReceiveQueue q = queues[lane];
        if (!q.active()) {
            counters().rxDroppedDown.increment();
            return Delivery.DROPPED;
        }
        boolean tagged = config().vlans().tagged(f.vlan());
        if (!tagged) {
            f.vlanTci = 0;
        }
        boolean inside = tagged && (device.driverFeatures() & AggRegisters.FEATURE_VLAN) == 0;
        int header = AggRegisters.MIN_FRAME + VlanTag.BYTES;
        if (f.packetLength() > device.mtu() + header) {
            counters().rxDroppedTooLong.increment();
            return Delivery.DROPPED;
        }
        return switch (q.move(f, guest.memory(), inside)) {
            case MOVED -> Delivery.DONE;
            case NO_BUFFER -> {
                if (q.active()) {
                    yield Delivery.BLOCKED;
                }
                counters().rxDroppedDown.increment(); // the queue has just stopped
                yield Delivery.DROPPED;
            }
            case NEVER_FITS -> {
                counters().rxDroppedTooLong.increment();
                yield Delivery.DROPPED;
            }
        };
    }

    @Override
    protected void endTurn() {
        boolean again = false;
        for (ReceiveQueue q : queues) {
            again |= q.finish();
        }
        guest.memory().exit(token);
        guest = null;
        if (again) {
            wake();
        }
    }

    @Override
    protected int lane(int flowHash) {
        return (int) (((flowHash & 0xffff_ffffL) * device.queuePairs()) >>> 32);
    }

    @Override
    protected boolean wantsFlooded(long destination, boolean group) {
        return device.wantsFlooded(destination, group);
    }
}
