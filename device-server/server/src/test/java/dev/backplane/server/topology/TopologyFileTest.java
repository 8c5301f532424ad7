// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.PortConfig;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A topology file: what is accepted, and that each fault is told with its line, its value and what is allowed. */
class TopologyFileTest {
    private static Topology read(String yaml) throws TopologyException, IOException {
        return TopologyFile.read("t.yaml", new StringReader(yaml));
    }

    private static List<String> faults(String yaml) {
        return assertThrows(TopologyException.class, () -> read(yaml), () -> "accepted:\n" + yaml)
                .getMessage()
                .lines()
                .toList();
    }

    @Test
    void nodesGetDefaultsByTheirPlace() throws Exception {
        Topology t = read("""
            nodes:
              - name: alpha
              - {}
              - id: 40
                partition: blue
                mac: 02:00:00:00:00:AA
            """);
        assertEquals(
                new Node(1, "alpha", MacAddress.ofNode(1), "default"),
                t.nodes().get(0).node());
        assertEquals(Node.of(2), t.nodes().get(1).node());
        assertEquals(
                new Node(40, "node40", MacAddress.parse("02:00:00:00:00:aa"), "blue"),
                t.nodes().get(2).node());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        nodes:\\n  - nmae: a                       | t.yaml:2: unknown key 'nmae' in node; known: name, id, mac, partition
        colour: red\\nnodes:\\n  - name: a         | t.yaml:1: unknown key 'colour'; known:
        nodes:\\n  - name: a\\n  - id: 4097        | t.yaml:3: node.id is the value '4097': a node's id is 1 to 4096, not 4097
        nodes:\\n  - id: 0                         | t.yaml:2: node.id is the value '0': a node's id is 1 to 4096, not 0
        nodes:\\n  - id: twelve                    | t.yaml:2: node.id is the value 'twelve', it must be a whole number
        nodes:\\n  - id: 99999999999               | t.yaml:2: node.id is the value '99999999999', it must be a whole number
        nodes:\\n  - id: [1]                       | t.yaml:2: node.id is a list, it must be a whole number
        nodes:\\n  - name: a/b                     | t.yaml:2: node.name is the value 'a/b': a node's name is
        nodes:\\n  - name:                         | t.yaml:2: node.name is the value ''
        nodes:\\n  - mac: 02:00                    | t.yaml:2: node.mac is the value '02:00', it must be an Ethernet address
        nodes:\\n  - mac: 01:00:00:00:00:01        | t.yaml:2: node.mac is the value '01:00:00:00:00:01': node node1: 01:00:00:00:00:01 is not the address of one station
        nodes:\\n  - name: a\\n  - name: a         | t.yaml:3: node a: name a belongs to node a
        nodes:\\n  - id: 2\\n  - name: b           | t.yaml:3: node b: id 2 belongs to node node2
        nodes:\\n  - name: a\\n    name: b         | t.yaml:3: 'name' appears twice
        nodes: 3                                   | t.yaml:1: 'nodes' must be a list
        nodes: []                                  | t.yaml:1: 'nodes' must be a list of at least one node
        nodes:\\n  - just text                     | t.yaml:2: node is the value 'just text', it must be a mapping
        nodes:\\n  - name: 'a                      | t.yaml:2: not YAML
        nodes:\\n  - &x {name: a}\\n  - *x         | anchors and aliases are not supported
        - a                                        | t.yaml:1: the file is a list
        """)
    void faultsAreToldWithLineValueAndRange(String yaml, String expected) {
        List<String> faults = faults(yaml.replace("\\n", "\n"));
        assertTrue(faults.stream().anyMatch(f -> f.contains(expected)), () -> expected + " is not told: " + faults);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        - {name: out}                              | t.yaml:3: uplink out needs 'connect', 'listen' or 'tap'
        - {connect: a, listen: b}                  | an uplink has one far side: 'connect', 'listen' or 'tap'
        - {connect: a, mtu: 67}                    | t.yaml:3: uplink.mtu is the value '67': uplink: mtu is 68 to 65510, not 67
        - {connect: a, mtu: 65511}                 | uplink: mtu is 68 to 65510, not 65511
        - {connect: a, reconnect: 5ms}             | uplink.reconnect is the value '5ms': uplink: reconnect is 10ms to 60s, not 5ms
        - {connect: a, gateway: 10.77.0}           | uplink.gateway is the value '10.77.0': a gateway is an IPv4 address
        - {connect: a, gateway: 10.77.0.256}       | a gateway is an IPv4 address such as 10.77.0.254, not 10.77.0.256
        - {tap: a b}                               | uplink.tap is the value 'a b': a TAP interface has a name
        - {tap: sixteen-letters1}                  | a TAP interface has a name of 1 to 15
        - {connect: a, port: {anti_spoofing: true}} | t.yaml:3: uplink uplink1: anti_spoofing is for nodes alone
        - {connect: a, port: {weight: 0}}          | t.yaml:3: port.weight is the value '0'
        - {name: node1, connect: a}                | t.yaml:3: uplink node1: there is a port of that name already
        - {name: a/b, connect: a}                  | uplink.name is the value 'a/b': an uplink's name is
        - {colour: red, connect: a}                | t.yaml:3: unknown key 'colour' in uplink; known: name, partition, connect
        - text                                     | t.yaml:3: uplink is the value 'text', it must be a mapping
        {a: b}                                     | t.yaml:3: 'uplinks' must be a list
        """)
    void faultsOfUplinksAreToldWithLineValueAndRange(String uplink, String expected) {
        List<String> faults = faults("nodes: [{name: node1}]\nuplinks:\n  " + uplink);
        assertTrue(faults.stream().anyMatch(f -> f.contains(expected)), () -> expected + " is not told: " + faults);
    }

    @Test
    void uplinksAreReadAndShown() throws Exception {
        Topology t = read("""
            nodes: [{name: a}]
            uplinks:
              - {connect: passt.sock, gateway: 10.77.0.254, reconnect: 200ms}
              - {name: lan, tap: bp0, mtu: 9000, partition: p, port: {vlans: access 7}}
            """);
        assertEquals("uplink1", t.uplinks().get(0).settings().name());
        assertEquals(200, t.uplinks().get(0).settings().reconnectMillis());
        assertEquals(
                0x0a4d_00fe,
                t.uplinks().get(0).settings().config(PortConfig.defaults()).gateway());
        assertEquals("access 7", t.uplinks().get(1).port().vlans().toString());
        assertEquals(t.show(), read(yaml(t.show())).show());
    }

    @Test
    void theExamplesAreGood() throws Exception {
        try (Stream<Path> examples = Files.list(Path.of("../../qemu-config/topologies"))) {
            for (Path example : examples.toList()) {
                assertTrue(TopologyFile.read(example).nodes().size() >= 2, example.toString());
            }
        }
    }

    @Test
    void theReadmeTellsEveryKey() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        TopologyFile.documentation()
                .forEach((section, keys) -> keys.keySet()
                        .forEach(key -> assertTrue(readme.contains("`" + key + "`"), section + "." + key)));
    }

    @Test
    void anEmptyFileHasNoNodes() {
        assertEquals(List.of("t.yaml:1: 'nodes' must be a list of at least one node"), faults(""));
    }

    @Test
    void allFaultsAreToldAtOnce() {
        assertEquals(2, faults("nodes:\n  - id: 0\n  - colour: red\n").size());
    }

    @Test
    void nestingHasALimit() {
        assertThrows(IOException.class, () -> read("nodes: " + "[".repeat(100) + "]".repeat(100)));
    }

    @Test
    void aMissingFileIsNamed() {
        String message = assertThrows(TopologyException.class, () -> TopologyFile.read(Path.of("/nonexistent.yaml")))
                .getMessage();
        assertEquals("topology file /nonexistent.yaml does not exist", message);
    }

    @Test
    void whatIsShownCanBeReadAgain() throws Exception {
        Topology t = read("""
            fabric: {rendezvous_memory: 128MiB, stuck_after: 1s, quota: 4MiB}
            messaging: {contexts: 16, spin: 10us, dedicated: true}
            nodes:
              - name: a
                id: 7
                partition: p
                port: {rate: 100Mbit, latency: 2ms, vlans: "trunk 2,5,10-20 native 3", anti_spoofing: true}
              - port: {vlans: access 10, admin_up: false, mirror_to: a}
            """);
        Topology again = read(yaml(t.show()));
        assertEquals(t.show(), again.show());
        assertEquals(t.fabric(), again.fabric());
        assertEquals(t.messaging(), again.messaging());
        assertEquals(128L << 20, t.fabric().rendezvousBytes());
        assertEquals(1000, t.fabric().stuckMillis());
        assertEquals(100, t.nodes().get(0).port().rateMbit());
        assertEquals(2000, t.nodes().get(0).port().latencyMicros());
        assertEquals(
                "trunk 2-3,5,10-20 native 3", t.nodes().get(0).port().vlans().toString());
        assertEquals("access 10", t.nodes().get(1).port().vlans().toString());
    }

    /** The value in YAML's flow style, every scalar quoted. */
    private static String yaml(Object value) {
        return switch (value) {
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(e -> e.getKey() + ": " + yaml(e.getValue()))
                        .collect(Collectors.joining(", ", "{", "}"));
            case List<?> list -> list.stream().map(TopologyFileTest::yaml).collect(Collectors.joining(", ", "[", "]"));
            default -> "\"" + value + "\"";
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "access 0",
                "access 4095",
                "access",
                "trunk",
                "trunk 5-2",
                "trunk 1,,2",
                "trunk 1 native 9999",
                "10"
            })
    void badVlansAreRefused(String vlans) {
        String fault = faults("nodes:\n  - port:\n      vlans: " + vlans + "\n").getFirst();
        assertTrue(fault.startsWith("t.yaml:3: port.vlans is the value '" + vlans + "'"), fault);
    }

    @Test
    void valuesThatOnlyFailTogetherAreToldAtTheirSection() {
        List<String> faults = faults("nodes: [{}]\nfabric:\n  mac_entries: 128\n  mac_entries_per_port: 200\n");
        assertEquals(1, faults.size(), faults.toString());
        assertTrue(faults.getFirst().startsWith("t.yaml:3: fabric.mac_entries is the value '128'"), faults.toString());
        assertTrue(faults.getFirst().endsWith("1 to 128, not 200"), faults.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "BYTES, 4096, 4KiB",
        "BYTES, 64MiB, 64MiB",
        "BYTES, 1.5GiB, 1536MiB",
        "BYTES, 4097, 4097",
        "DURATION, 0, 0ns",
        "DURATION, 1.5s, 1500ms",
        "DURATION, 90s, 90s",
        "DURATION, 120s, 2min",
        "RATE, none, none",
        "RATE, 2.5Gbit, 2500Mbit",
        "FLAG, true, true",
        "COUNT, 0x10, 16",
    })
    void valuesAreShownInTheirLargestUnit(ValueType type, String written, String shown) {
        Object value = type.parse(written);
        assertEquals(shown, type.format(value));
        assertEquals(value, type.parse(shown));
    }

    @ParameterizedTest
    @CsvSource({
        "BYTES, -1",
        "BYTES, 1.5",
        "BYTES, 64MB",
        "BYTES, 9999999999GiB",
        "DURATION, 5",
        "DURATION, 1h",
        "RATE, fast",
        "FLAG, yes",
        "COUNT, 1.5",
        "COUNT, 99999999999999999999"
    })
    void whatIsNoSuchValueIsRefused(ValueType type, String written) {
        assertThrows(RuntimeException.class, () -> type.parse(written));
    }
}
