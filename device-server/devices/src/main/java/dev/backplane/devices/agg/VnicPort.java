// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.fabric.OutputPort;
import dev.backplane.devices.fabric.Packet;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.VlanTag;
import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.DeviceLink;

/** The output port of a vNIC: its lanes are the receive queues. */
final class VnicPort extends OutputPort {
    /** Features that say what the driver can take: the same bits as the fabric's. */
    private static final int OFFLOADS = Offloads.TAKES_CHECKSUM
            | Offloads.TAKES_TSO4
            | Offloads.TAKES_TSO6
            | Offloads.TAKES_UDP_SEGMENTATION
            | Offloads.TAKES_VLAN;

    private final VnicDevice device;
    private final ReceiveQueue[] queues = new ReceiveQueue[AggRegisters.MAX_QUEUE_PAIRS];
    private final Timers.Timer retry;
    private DeviceLink guest;
    private int offloads;
    private int token;

    VnicPort(FabricCore core, int index, PortConfig config, VnicDevice device) {
        super(core, index, device.node().name(), config, device.count().port, AggRegisters.MAX_QUEUE_PAIRS);
        this.device = device;
        this.retry = device.timers().timer(this::wakeLater);
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new ReceiveQueue(new QueueLink(device, AggRegisters.MAX_QUEUE_PAIRS + i));
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
        offloads = (int) device.settings().driverFeatures() & OFFLOADS;
        token = guest.memory().enter();
        if (device.stopped()) {
            // Looked at inside the use: whoever stops the device waits for uses then. What is queued stays queued.
            guest.memory().exit(token);
            return false;
        }
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
    protected int offloads() {
        return offloads;
    }

    @Override
    protected Delivery deliver(Packet packet, int lane) {
        ReceiveQueue q = queues[lane];
        if (!q.active()) {
            counters().rxDroppedDown.increment();
            return Delivery.DROPPED;
        }
        int header = AggRegisters.MIN_FRAME + VlanTag.BYTES;
        if (packet.frame().packetLength() > device.settings().mtu() + header) {
            counters().rxDroppedTooLong.increment();
            return Delivery.DROPPED;
        }
        return switch (q.move(packet, guest.memory())) {
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
        return (int) (((flowHash & 0xffff_ffffL) * device.settings().queuePairs()) >>> 32);
    }

    @Override
    protected boolean wantsFlooded(long destination, boolean group) {
        return device.settings().wantsFlooded(destination, group);
    }
}
