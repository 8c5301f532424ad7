// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.imm.MessagingConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a server is to be. Immutable.
 *
 * @param fabric settings of the switch fabric
 * @param messaging settings of the messaging modules
 * @param nodes in the order of the file; names, ids and addresses are unique
 * @param uplinks in the order of the file; their names are unique, and no node's
 */
public record Topology(FabricConfig fabric, MessagingConfig messaging, List<NodeSpec> nodes, List<UplinkSpec> uplinks) {
    /** Ports beyond those of the nodes for which the fabric has room unless the file says otherwise. */
    private static final int SPARE_PORTS = 8;

    /**
     * A node and its port.
     *
     * @param node the node
     * @param port settings of its port in the switch fabric
     */
    public record NodeSpec(Node node, PortConfig port) {}

    /**
     * An uplink and its port.
     *
     * @param settings the uplink
     * @param port settings of its port in the switch fabric
     */
    public record UplinkSpec(UplinkSettings settings, PortConfig port) {}

    public Topology {
        nodes = List.copyOf(nodes);
        uplinks = List.copyOf(uplinks);
    }

    /**
     * Nodes 1 to {@code count} with default names and limits.
     *
     * @throws TopologyException when {@code count} is out of range
     */
    public static Topology ofNodes(int count) throws TopologyException {
        if (count < 1 || count > Node.MAX_ID) {
            throw new TopologyException("--nodes is 1 to " + Node.MAX_ID + ", not " + count);
        }
        List<NodeSpec> nodes = new ArrayList<>();
        for (int id = 1; id <= count; id++) {
            nodes.add(new NodeSpec(Node.of(id), PortConfig.defaults()));
        }
        return new Topology(fabricFor(count), MessagingConfig.defaults(), nodes, List.of());
    }

    /** The fabric's defaults, with room for that many nodes and uplinks. */
    static FabricConfig fabricFor(int nodes) {
        FabricConfig defaults = FabricConfig.defaults();
        int ports = Math.min(nodes + SPARE_PORTS, FabricConfig.MAX_PORTS);
        return ports <= defaults.maxPorts() ? defaults : defaults.withMaxPorts(ports);
    }

    /** The effective configuration, in the form of a topology file. */
    public Map<String, Object> show() {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("fabric", TopologyFile.FABRIC.show(fabric));
        shown.put("messaging", TopologyFile.MESSAGING.show(messaging));
        List<Object> list = new ArrayList<>();
        for (NodeSpec spec : nodes) {
            Map<String, Object> node = new LinkedHashMap<>(TopologyFile.NODE.show(spec.node()));
            node.put("port", TopologyFile.PORT.show(spec.port()));
            list.add(node);
        }
        shown.put("nodes", list);
        if (!uplinks.isEmpty()) {
            List<Object> others = new ArrayList<>();
            for (UplinkSpec spec : uplinks) {
                Map<String, Object> uplink = new LinkedHashMap<>(TopologyFile.UPLINK.show(spec.settings()));
                uplink.put("port", TopologyFile.PORT.show(spec.port()));
                others.add(uplink);
            }
            shown.put("uplinks", others);
        }
        return shown;
    }

    /** The effective configuration for the log: a line for each section and for each of the first nodes. */
    public List<String> summary(int maxNodes) {
        List<String> lines = new ArrayList<>();
        lines.add("fabric: " + TopologyFile.FABRIC.show(fabric));
        lines.add("messaging: " + TopologyFile.MESSAGING.show(messaging));
        for (NodeSpec spec : nodes.subList(0, Math.min(maxNodes, nodes.size()))) {
            lines.add(
                    "node: " + TopologyFile.NODE.show(spec.node()) + ", port: " + TopologyFile.PORT.show(spec.port()));
        }
        if (nodes.size() > maxNodes) {
            lines.add("and " + (nodes.size() - maxNodes) + " nodes more: see 'backplane config'");
        }
        for (UplinkSpec spec : uplinks) {
            lines.add("uplink: " + TopologyFile.UPLINK.show(spec.settings()) + ", port: "
                    + TopologyFile.PORT.show(spec.port()));
        }
        return lines;
    }
}
