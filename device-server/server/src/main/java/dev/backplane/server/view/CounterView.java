// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.server.run.NodeRuntime;
import dev.backplane.server.uplink.Uplink;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is counted, as JSON: maps of maps of numbers. */
final class CounterView {
    private CounterView() {}

    /** Counters of everything: what nodes do not own, and {@code nodes} and {@code uplinks} by name. */
    static Map<String, Object> all(DeviceServer server) {
        Map<String, Object> all = new LinkedHashMap<>();
        server.commonCounters().forEach((name, group) -> all.put(name, values(group)));
        Map<String, Object> nodes = new LinkedHashMap<>();
        server.nodes().forEach(n -> nodes.put(n.node().name(), of(n)));
        all.put("nodes", nodes);
        if (!server.uplinks().isEmpty()) {
            Map<String, Object> uplinks = new LinkedHashMap<>();
            server.uplinks().forEach(u -> uplinks.put(u.port().name(), of(u)));
            all.put("uplinks", uplinks);
        }
        return all;
    }

    /** An uplink's counters: those of its port, and a group of its far side. */
    static Map<String, Object> of(Uplink uplink) {
        Map<String, Object> counters = new LinkedHashMap<>(values(uplink.port().counterGroup()));
        counters.put(uplink.counters().name(), values(uplink.counters()));
        return counters;
    }

    /** A node's counters: {@code agg} and {@code imm}; in each the device's own, and groups of its connection. */
    static Map<String, Object> of(NodeRuntime node) {
        Map<String, Object> devices = new LinkedHashMap<>();
        for (DeviceSocket socket : node.sockets()) {
            List<CounterGroup> groups = socket.counters();
            Map<String, Object> device = new LinkedHashMap<>(values(groups.getFirst()));
            groups.stream().skip(1).forEach(g -> device.put(g.name(), values(g)));
            devices.put(socket.kind().label(), device);
        }
        return devices;
    }

    private static Map<String, Long> values(CounterGroup group) {
        Map<String, Long> values = new LinkedHashMap<>();
        for (Counter c : group.all()) {
            values.put(c.name(), c.get());
        }
        return values;
    }
}
