// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.Node;
import dev.backplane.server.topology.Topology.NodeSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a {@link Topology} from YAML. */
public final class TopologyFile {
    static final Section<Node> NODE = new Section<>("node", Node.class)
            .key("name", "name", ValueType.TEXT, "name of the node, and of its sockets")
            .key("id", "id", ValueType.COUNT, "number of the node; by default its place in the list")
            .key("mac", "mac", ValueType.MAC, "address of its vNIC; by default 02:ba:5c:00 and the id")
            .key("partition", "partition", ValueType.TEXT, "nodes of different partitions never exchange anything");

    private TopologyFile() {}

    /**
     * Reads a file.
     *
     * @throws TopologyException when it cannot be read, or is not a topology: one line for each fault
     */
    public static Topology read(Path file) throws TopologyException {
        try (BufferedReader in = Files.newBufferedReader(file)) {
            return read(file.toString(), in);
        } catch (NoSuchFileException e) {
            throw new TopologyException("topology file " + file + " does not exist");
        } catch (MalformedInputException e) {
            throw new TopologyException("topology file " + file + " is not UTF-8 text");
        } catch (IOException e) {
            throw new TopologyException("cannot read topology file " + file + ": " + e.getMessage());
        }
    }

    static Topology read(String name, Reader in) throws IOException, TopologyException {
        Problems problems = new Problems(name);
        YamlNode.Fields file = YamlFile.read(in, problems);
        problems.throwIfAny();
        file.fields().forEach((key, value) -> {
            if (!key.equals("nodes")) {
                problems.add(value.line(), "unknown key '" + key + "'; known: nodes");
            }
        });
        Topology topology = new Topology(nodes(file, problems));
        problems.throwIfAny();
        return topology;
    }

    private static List<NodeSpec> nodes(YamlNode.Fields file, Problems problems) {
        YamlNode value = file.fields().get("nodes");
        List<NodeSpec> nodes = new ArrayList<>();
        if (!(value instanceof YamlNode.Items list) || list.items().isEmpty()) {
            problems.add(value == null ? file.line() : value.line(), "'nodes' must be a list of at least one node");
            return nodes;
        }
        Map<Object, String> taken = new HashMap<>();
        for (YamlNode item : list.items()) {
            Node defaults = Node.of(id(item, nodes.size() + 1));
            Node node = NODE.read(item, defaults, problems);
            for (Object unique : List.of("name " + node.name(), "id " + node.id(), "mac " + node.mac())) {
                String other = taken.putIfAbsent(unique, node.name());
                if (other != null) {
                    problems.add(item.line(), "node " + node.name() + ": " + unique + " belongs to node " + other);
                }
            }
            nodes.add(new NodeSpec(node));
        }
        return nodes;
    }

    /** The id on which a node's default name and address depend. A bad one is told when the node is read. */
    private static int id(YamlNode item, int place) {
        if (item instanceof YamlNode.Fields node && node.fields().get("id") instanceof YamlNode.Scalar id) {
            try {
                int given = Math.toIntExact((Long) ValueType.COUNT.parse(id.text()));
                return given >= 1 && given <= Node.MAX_ID ? given : Math.min(place, Node.MAX_ID);
            } catch (IllegalArgumentException | ArithmeticException e) {
                return Math.min(place, Node.MAX_ID);
            }
        }
        return Math.min(place, Node.MAX_ID);
    }
}
