// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.devices.agg.PortView;
import dev.backplane.devices.agg.SwitchFabric;
import dev.backplane.devices.fabric.AddressView;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.MemoryView;
import dev.backplane.devices.uplink.UplinkPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The switch fabric as JSON: rendezvous memory, and the addresses it knows. */
final class FabricView {
    private FabricView() {}

    /**
     * Use of rendezvous memory by one output port.
     *
     * @param queuedFrames frames in its memory output queues
     * @param heldBytes rendezvous memory that is charged to it
     * @param quotaBytes most that may be
     */
    record PortMemory(String port, String state, int queuedFrames, long heldBytes, long quotaBytes) {}

    /** An address of a partition, and the port it is behind; vlan 0 means all. */
    record Address(String mac, String partition, int vlan, String port, String kind, int lastSeenS) {}

    /** Use of rendezvous memory, in all and by output port. */
    static Map<String, Object> memory(SwitchFabric fabric) {
        MemoryView m = fabric.memoryView();
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("bytes", m.bytes());
        view.put("cell_bytes", m.cellBytes());
        view.put("allocated_bytes", (long) m.allocated() * m.cellBytes());
        view.put("high_water_bytes", (long) m.highWater() * m.cellBytes());
        view.put("second_descriptors", m.descriptors());
        List<PortMemory> ports = new ArrayList<>();
        for (PortView p : fabric.portView()) {
            ports.add(new PortMemory(
                    p.node().name(),
                    p.state().name().toLowerCase(Locale.ROOT),
                    p.queuedFrames(),
                    (long) p.heldCells() * m.cellBytes(),
                    (long) p.quotaCells() * m.cellBytes()));
        }
        for (UplinkPort p : fabric.uplinks()) {
            ports.add(new PortMemory(
                    p.name(),
                    p.state().name().toLowerCase(Locale.ROOT),
                    p.queuedFrames(),
                    (long) p.heldCells() * m.cellBytes(),
                    (long) p.quotaCells() * m.cellBytes()));
        }
        view.put("ports", ports);
        return view;
    }

    /** All addresses of all partitions. */
    static Map<String, Object> addresses(SwitchFabric fabric) {
        List<Address> all = new ArrayList<>();
        for (ForwardingDomain domain : fabric.core().domains()) {
            for (AddressView a : fabric.addressView(domain.name())) {
                all.add(new Address(
                        a.mac().toString(),
                        domain.name(),
                        a.vlan(),
                        a.port(),
                        a.fixed() ? "fixed" : "learnt",
                        a.lastSeenSecond()));
            }
        }
        return Map.of("macs", all);
    }
}
