// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.Node;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a server is to be. Immutable.
 *
 * @param nodes in the order of the file; names, ids and addresses are unique
 */
public record Topology(List<NodeSpec> nodes) {
    /**
     * A node and its port.
     *
     * @param node the node
     */
    public record NodeSpec(Node node) {}

    public Topology {
        nodes = List.copyOf(nodes);
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
            nodes.add(new NodeSpec(Node.of(id)));
        }
        return new Topology(nodes);
    }

    /** The effective configuration, in the form of a topology file. */
    public Map<String, Object> show() {
        Map<String, Object> shown = new LinkedHashMap<>();
        List<Object> list = new ArrayList<>();
        nodes.forEach(n -> list.add(TopologyFile.NODE.show(n.node())));
        shown.put("nodes", list);
        return shown;
    }
}
