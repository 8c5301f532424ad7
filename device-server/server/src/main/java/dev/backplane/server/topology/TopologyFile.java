// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.imm.MessagingConfig;
import dev.backplane.server.topology.Topology.NodeSpec;
import dev.backplane.server.topology.Topology.UplinkSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads a {@link Topology} from YAML. */
public final class TopologyFile {
    static final Section<FabricConfig> FABRIC = new Section<>("fabric", FabricConfig.class)
            .key("rendezvous_memory", "rendezvousBytes", ValueType.BYTES, "size of rendezvous memory")
            .key("cell", "cellBytes", ValueType.BYTES, "unit in which it is allocated, a power of two")
            .key("max_ports", "maxPorts", ValueType.COUNT, "most ports, nodes and uplinks together")
            .key("quota", "quotaBytes", ValueType.BYTES, "most of it that frames for one port may hold")
            .key(
                    "stuck_after",
                    "stuckMillis",
                    ValueType.DURATION,
                    "a port that drains nothing for so long drops frames")
            .key("mac_entries", "macEntries", ValueType.COUNT, "addresses that each partition learns")
            .key("mac_entries_per_port", "macEntriesPerPort", ValueType.COUNT, "of these, most for one port")
            .key(
                    "mac_age",
                    "macAgeSeconds",
                    ValueType.DURATION,
                    "an address that sends nothing for so long is forgotten")
            .key(
                    "multicast_snooping",
                    "multicastSnooping",
                    ValueType.FLAG,
                    "IP multicast only where members are, once there is a querier (IGMP, MLD)")
            .key("huge_pages", "hugePages", ValueType.FLAG, "rendezvous memory of huge pages, if the machine has them");

    static final Section<MessagingConfig> MESSAGING = new Section<>("messaging", MessagingConfig.class)
            .key("contexts", "contexts", ValueType.COUNT, "GET/PUT contexts of each node")
            .key(
                    "stride",
                    "stride",
                    ValueType.BYTES,
                    "from one context page to the next; 64KiB for guests with such pages")
            .key("rings", "rings", ValueType.COUNT, "ring ids of each node")
            .key("memories", "memories", ValueType.COUNT, "registered memories of each context")
            .key("max_pages", "maxPages", ValueType.COUNT, "4 KiB pages of one registered memory")
            .key("spin", "spinMicros", ValueType.DURATION, "polling of a context without work before sleep")
            .key("moderation", "moderationMicros", ValueType.DURATION, "shortest time between interrupts of a vector")
            .key("pollers", "pollers", ValueType.COUNT, "threads that poll contexts")
            .key("dedicated", "dedicated", ValueType.FLAG, "pollers never sleep while a context is open");

    static final Section<PortConfig> PORT = new Section<>("port", PortConfig.class)
            .key("admin_up", "adminUp", ValueType.FLAG, "whether the link comes up when the guest's driver is ready")
            .key("speed", "speedMbit", ValueType.RATE, "speed that the guest reports; no effect on the data path")
            .key("quota", "quotaBytes", ValueType.BYTES, "rendezvous memory for this port; 0 for the fabric's quota")
            .key("weight", "weight", ValueType.COUNT, "share of the moves out when many ports have frames")
            .key("vlans", "vlans", ValueType.VLANS, "VLANs that the port carries")
            .key(
                    "anti_spoofing",
                    "antiSpoofing",
                    ValueType.FLAG,
                    "refuse frames from addresses that are not the node's")
            .key("mirror_to", "mirrorTo", ValueType.TEXT, "node or uplink that gets a copy of all frames")
            .key("rate", "rateMbit", ValueType.RATE, "limit of the moves out, as a link of that speed")
            .key("latency", "latencyMicros", ValueType.DURATION, "fixed time that each frame takes at least");

    static final Section<Node> NODE = new Section<>("node", Node.class)
            .key("name", "name", ValueType.TEXT, "name of the node, and of its sockets")
            .key("id", "id", ValueType.COUNT, "number of the node; by default its place in the list")
            .key("mac", "mac", ValueType.MAC, "address of its vNIC; by default 02:ba:5c:00 and the id")
            .key("partition", "partition", ValueType.TEXT, "nodes of different partitions never exchange anything");

    static final Section<UplinkSettings> UPLINK = new Section<>("uplink", UplinkSettings.class)
            .key("name", "name", ValueType.TEXT, "name of the uplink; by default uplink and its place in the list")
            .key("partition", "partition", ValueType.TEXT, "partition whose nodes it serves")
            .key("connect", "connect", ValueType.TEXT, "Unix socket to connect to, in the run directory if relative")
            .key("listen", "listen", ValueType.TEXT, "Unix socket to listen on, in the run directory if relative")
            .key("tap", "tap", ValueType.TEXT, "TAP interface of the host")
            .key(
                    "gateway",
                    "gateway",
                    ValueType.TEXT,
                    "its IPv4 address if it is a gateway for one station, as passt is")
            .key("mtu", "mtu", ValueType.COUNT, "largest packet; longer ones are dropped")
            .key("reconnect", "reconnectMillis", ValueType.DURATION, "longest pause between attempts to connect");

    private static final List<String> KEYS = List.of("fabric", "messaging", "nodes", "uplinks");

    private TopologyFile() {}

    /** The sections of a file, and in each the keys with what they mean. */
    public static Map<String, Map<String, String>> documentation() {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        sections.put("fabric", FABRIC.documentation());
        sections.put("messaging", MESSAGING.documentation());
        sections.put("nodes[]", NODE.documentation());
        sections.put("nodes[].port", PORT.documentation());
        sections.put("uplinks[]", UPLINK.documentation());
        return sections;
    }

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
            if (!KEYS.contains(key)) {
                problems.add(value.line(), "unknown key '" + key + "'; known: " + String.join(", ", KEYS));
            }
        });
        List<NodeSpec> nodes = nodes(file, problems);
        List<UplinkSpec> uplinks = uplinks(file, nodes, problems);
        Topology topology = new Topology(
                section(file, FABRIC, "fabric", Topology.fabricFor(nodes.size() + uplinks.size()), problems),
                section(file, MESSAGING, "messaging", MessagingConfig.defaults(), problems),
                nodes,
                uplinks);
        problems.throwIfAny();
        return topology;
    }

    private static <R extends Record> R section(
            YamlNode.Fields in, Section<R> section, String key, R defaults, Problems problems, String... others) {
        YamlNode value = in.fields().get(key);
        return value == null ? defaults : section.read(value, defaults, problems, others);
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
            Node node = NODE.read(item, Node.of(id(item, nodes.size() + 1)), problems, "port");
            PortConfig port = item instanceof YamlNode.Fields fields
                    ? section(fields, PORT, "port", PortConfig.defaults(), problems)
                    : PortConfig.defaults();
            for (Object unique : List.of("name " + node.name(), "id " + node.id(), "mac " + node.mac())) {
                String other = taken.putIfAbsent(unique, node.name());
                if (other != null) {
                    problems.add(item.line(), "node " + node.name() + ": " + unique + " belongs to node " + other);
                }
            }
            nodes.add(new NodeSpec(node, port));
        }
        return nodes;
    }

    private static List<UplinkSpec> uplinks(YamlNode.Fields file, List<NodeSpec> nodes, Problems problems) {
        YamlNode value = file.fields().get("uplinks");
        List<UplinkSpec> uplinks = new ArrayList<>();
        if (value == null) {
            return uplinks;
        }
        if (!(value instanceof YamlNode.Items list)) {
            problems.add(value.line(), "'uplinks' must be a list");
            return uplinks;
        }
        Set<String> taken = new HashSet<>();
        nodes.forEach(n -> taken.add(n.node().name()));
        for (YamlNode item : list.items()) {
            int before = problems.count();
            UplinkSettings settings =
                    UPLINK.read(item, UplinkSettings.named("uplink" + (uplinks.size() + 1)), problems, "port");
            PortConfig port = item instanceof YamlNode.Fields fields
                    ? section(fields, PORT, "port", PortConfig.defaults(), problems)
                    : PortConfig.defaults();
            if (port.antiSpoofing()) {
                problems.add(item.line(), "uplink " + settings.name() + ": anti_spoofing is for nodes alone");
            }
            if (problems.count() == before && !settings.complete()) {
                problems.add(item.line(), "uplink " + settings.name() + " needs 'connect', 'listen' or 'tap'");
            }
            if (!taken.add(settings.name())) {
                problems.add(item.line(), "uplink " + settings.name() + ": there is a port of that name already");
            }
            uplinks.add(new UplinkSpec(settings, port));
        }
        return uplinks;
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
