// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.MacAddress;
import java.util.Arrays;

/**
 * The ports of one partition and where their addresses are. A frame is only ever looked up in the domain of the port
 * that it came from, so nodes of different partitions cannot exchange any.
 *
 * <p>Ports are added and removed by the fabric's control side, one at a time; everything else is for any thread.
 */
public final class ForwardingDomain {
    private static final OutputPort[] NONE = {};

    private final String name;
    private final MacTable table;
    private final FabricCounters counters;
    /** Null without multicast snooping. */
    private final GroupTable groups;

    private volatile OutputPort[] ports = NONE;
    /** By index in the fabric, null for ports of other domains. */
    private final OutputPort[] byIndex;

    ForwardingDomain(String name, FabricConfig config, FabricCounters counters) {
        this.name = name;
        this.table = new MacTable(config.macEntries(), config.maxPorts(), config.macEntriesPerPort());
        this.groups = config.multicastSnooping() ? new GroupTable(config.maxPorts()) : null;
        this.byIndex = new OutputPort[config.maxPorts()];
        this.counters = counters;
    }

    public String name() {
        return name;
    }

    FabricCounters counters() {
        return counters;
    }

    MacTable table() {
        return table;
    }

    /** Memberships in multicast groups, or null when the fabric floods all multicast. */
    GroupTable groups() {
        return groups;
    }

    /** Members behind a port have reported elsewhere: it gets the frames of all groups until they do so here. */
    public void expectMembers(OutputPort port, int now) {
        if (groups != null) {
            groups.open(port.index(), now + GroupTable.MEMBER_SECONDS);
        }
    }

    OutputPort[] ports() {
        return ports;
    }

    /** The port with that index; only for indices that the table has given. */
    OutputPort port(int index) {
        return byIndex[index];
    }

    /** Adds a port. */
    public void add(OutputPort port) {
        byIndex[port.index()] = port;
        OutputPort[] more = Arrays.copyOf(ports, ports.length + 1);
        more[ports.length] = port;
        ports = more;
    }

    /** Fixes an address at a port in all VLANs. Throws {@link IllegalStateException} when the table is full of such. */
    public void fix(MacAddress mac, OutputPort port) {
        fix(mac, MacTable.ANY_VLAN, port);
    }

    /** Fixes an address at a port in one VLAN. */
    public void fix(MacAddress mac, int vlan, OutputPort port) {
        if (!table.fix(MacTable.key(vlan, mac.bits()), port.index())) {
            throw new IllegalStateException("partition " + name + ": no room in its table for " + mac
                    + "; raise the number of addresses of the fabric");
        }
    }

    /** Forgets a fixed address. */
    public void unfix(MacAddress mac, int vlan) {
        table.remove(MacTable.key(vlan, mac.bits()));
    }

    /** Forgets what was learnt from a port. */
    public void flush(OutputPort port) {
        table.flush(port.index());
    }

    /** Forgets addresses last seen before {@code oldest}, and memberships until {@code now}, in the clock's seconds. */
    void age(int oldest, int now) {
        counters.aged.add(table.age(oldest));
        if (groups != null) {
            groups.age(now);
        }
    }
}
