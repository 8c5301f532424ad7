// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/**
 * What every port counts. From the guest's point of view: transmit is from the port into the fabric, receive is from
 * the fabric to the port. A copy that the fabric addressed to a port ends in exactly one of rx_frames and the
 * rx_dropped counters.
 */
public final class PortCounters {
    private final CounterGroup group;

    public final Counter txFrames;
    public final Counter txBytes;
    public final Counter txErrors;
    public final Counter txDropped;
    public final Counter txWaits;
    public final Counter txPortWaits;
    public final Counter rxFrames;
    public final Counter rxBytes;
    public final Counter rxDroppedStuck;
    public final Counter rxDroppedDown;
    public final Counter rxDroppedTooLong;
    public final Counter rxDroppedFlooded;
    public final Counter rxDroppedMalformed;
    public final Counter rxDroppedFiltered;
    public final Counter rxWaits;
    public final Counter rxSegmented;
    public final Counter rxChecksummed;
    public final Counter stuck;

    /** Declares the counters in {@code group}. */
    public PortCounters(CounterGroup group) {
        this.group = group;
        txFrames = group.counter("tx_frames", "Frames moved from the port to rendezvous memory");
        txBytes = group.counter("tx_bytes", "Their bytes");
        txErrors = group.counter("tx_errors", "Frames whose descriptors were bad");
        txDropped = group.counter("tx_dropped", "Frames that the fabric refused (source address, VLAN, link down)");
        txWaits = group.counter("tx_waits", "Times that a sender waited for a place in rendezvous memory");
        txPortWaits = group.counter("tx_port_waits", "Times that a sender waited for room at an output port");
        rxFrames = group.counter("rx_frames", "Frames moved from rendezvous memory to the port");
        rxBytes = group.counter("rx_bytes", "Their bytes");
        rxDroppedStuck = group.counter("rx_dropped_stuck", "Frames dropped because the port was stuck and full");
        rxDroppedDown = group.counter("rx_dropped_down", "Frames dropped because the port was down or reset");
        rxDroppedTooLong = group.counter("rx_dropped_too_long", "Frames dropped because they exceed the port's MTU");
        rxDroppedFlooded = group.counter("rx_dropped_flooded", "Copies of flooded frames dropped at a full port");
        rxDroppedMalformed =
                group.counter("rx_dropped_malformed", "Frames dropped because they could not be segmented");
        rxDroppedFiltered = group.counter("rx_dropped_filtered", "Frames dropped by the filter of an uplink");
        rxWaits = group.counter("rx_waits", "Times that the port waited for a receive buffer");
        rxSegmented = group.counter("rx_segmented", "Frames that were segmented in software for this port");
        rxChecksummed = group.counter("rx_checksummed", "Packets whose checksum was computed for this port");
        stuck = group.counter("stuck", "Times that the port became stuck");
    }

    /** The group that they are in. */
    public CounterGroup group() {
        return group;
    }

    /** Sum of the copies that were dropped on their way to this port. */
    public long rxDropped() {
        return rxDroppedStuck.get()
                + rxDroppedDown.get()
                + rxDroppedTooLong.get()
                + rxDroppedFlooded.get()
                + rxDroppedMalformed.get()
                + rxDroppedFiltered.get();
    }
}
