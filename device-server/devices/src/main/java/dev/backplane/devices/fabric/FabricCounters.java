// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/**
 * What the fabric counts. Frames that ports send are either unicast, flooded or without destination; each copy that is
 * addressed to a port ends in exactly one of that port's rx_frames and rx_dropped counters.
 */
public final class FabricCounters {
    private final CounterGroup group = new CounterGroup("fabric");

    final Counter unicast = group.counter("unicast", "Frames for one known port");
    final Counter flooded = group.counter("flooded", "Broadcast, multicast and unknown frames");
    final Counter floodedToNobody =
            group.counter("flooded_to_nobody", "Flooded frames that no port wanted or could take");
    final Counter noDestination =
            group.counter("no_destination", "Frames for the port that they came from, or for a VLAN that it lacks");
    final Counter copies = group.counter("copies", "Frames addressed to a port, once for each port");
    final Counter mirrored = group.counter("mirrored", "Copies for mirror ports, included in copies");
    final Counter learnt = group.counter("mac_learnt", "Addresses learnt");
    final Counter moved = group.counter("mac_moved", "Addresses that moved to another port");
    final Counter refused = group.counter("mac_refused", "Frames whose address was not learnt");
    final Counter snooped =
            group.counter("multicast_snooped", "Multicast frames that went to members and routers only");
    final Counter unregistered =
            group.counter("multicast_unregistered", "Frames for IP multicast groups without members, flooded");
    final Counter reports = group.counter("multicast_reports", "Membership reports and queries that were understood");
    final Counter badReports =
            group.counter("multicast_bad_reports", "Membership messages that were cut off or had a bad checksum");
    final Counter groupsRefused = group.counter(
            "multicast_groups_refused", "Memberships for which there was no room: the port gets all groups");
    final Counter aged = group.counter("mac_aged", "Addresses forgotten because of their age");

    FabricCounters() {}

    public CounterGroup group() {
        return group;
    }
}
