// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.AddressView;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.MemoryView;
import dev.backplane.devices.fabric.OutputPort;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.loop.Workers;
import dev.backplane.devices.uplink.UplinkConfig;
import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The switch fabric with its ports: one vNIC for each node, and uplinks. Ports are added while the server starts or runs, from any
 * thread; they stay until the fabric is closed.
 */
public final class SwitchFabric implements AutoCloseable {
    private final FabricCore core;
    private final Arena own;
    private final List<VnicDevice> devices = new ArrayList<>();
    private final List<UplinkPort> uplinks = new ArrayList<>();
    private final List<Member> members = new ArrayList<>();

    /** Any port, and its partition. */
    private record Member(OutputPort port, ForwardingDomain domain) {}

    /** A fabric without ports, with rendezvous memory of its own. */
    public SwitchFabric(FabricConfig config, Workers workers) {
        this(config, workers, Arena.ofShared(), null);
    }

    /**
     * A fabric without ports.
     *
     * @param memory rendezvous memory: zero, aligned to 4096 bytes, accessible from any thread, and of the size in
     *     {@code config}; best of an automatic arena, as it must not be unmapped while any loop of the fabric may run
     */
    public SwitchFabric(FabricConfig config, MemorySegment memory, Workers workers) {
        this(config, workers, null, memory);
    }

    private SwitchFabric(FabricConfig config, Workers workers, Arena own, MemorySegment memory) {
        this.own = own;
        MemorySegment segment = own == null ? memory : own.allocate(config.rendezvousBytes(), 4096);
        if (segment.byteSize() != config.rendezvousBytes()) {
            throw new IllegalArgumentException("rendezvous memory has " + segment.byteSize()
                    + " bytes, the configuration says " + config.rendezvousBytes());
        }
        this.core = new FabricCore(config, segment, workers, config.maxPorts() * AggRegisters.MAX_QUEUE_PAIRS);
    }

    /**
     * Adds a node's vNIC.
     *
     * @throws IllegalArgumentException when the node's name, id or address is there already, or when a mirror would cross
     *     partitions
     * @throws IllegalStateException when there are as many ports as the configuration allows
     */
    public synchronized VnicDevice addNode(Node node, PortConfig config) {
        for (VnicDevice d : devices) {
            Node other = d.node();
            if (other.id() == node.id()
                    || other.name().equals(node.name())
                    || other.mac().equals(node.mac())) {
                throw new IllegalArgumentException(node + " and " + other + " have something in common");
            }
        }
        int index = freeIndex(node.name());
        ForwardingDomain domain = core.domain(node.partition());
        VnicDevice device = new VnicDevice(node, config, core, domain, index);
        add(new Member(device.port(), domain));
        domain.fix(node.mac(), device.port());
        devices.add(device);
        return device;
    }

    /**
     * Adds a port that is not a guest; it is down until its far side says that it is there.
     *
     * @throws IllegalArgumentException when a port has that name already, or when a mirror would cross partitions
     * @throws IllegalStateException when there are as many ports as the configuration allows
     */
    public synchronized UplinkPort addUplink(UplinkConfig config) {
        int index = freeIndex(config.name());
        ForwardingDomain domain = core.domain(config.partition());
        UplinkPort port = new UplinkPort(core, domain, index, config);
        add(new Member(port, domain));
        uplinks.add(port);
        return port;
    }

    private int freeIndex(String name) {
        for (Member m : members) {
            if (m.port.name().equals(name)) {
                throw new IllegalArgumentException("there are two ports of the name " + name);
            }
        }
        if (members.size() >= core.config().maxPorts()) {
            throw new IllegalStateException("the fabric has " + core.config().maxPorts() + " ports, all in use");
        }
        return members.size();
    }

    private void add(Member member) {
        members.add(member);
        for (Member m : members) {
            mirror(m, member);
            mirror(member, m);
        }
        member.domain.add(member.port);
    }

    /** Ports may be added in any order: a mirror begins when both are there. */
    private static void mirror(Member from, Member to) {
        if (!to.port.name().equals(from.port.config().mirrorTo()) || from.port.index() == to.port.index()) {
            return;
        }
        if (from.domain != to.domain) {
            throw new IllegalArgumentException(from.port + " cannot be mirrored to " + to.port
                    + ": ports of different partitions never exchange a frame");
        }
        from.port.mirror(to.port);
    }

    /** Counters of all partitions together. */
    public CounterGroup counters() {
        return core.counters().group();
    }

    /** The ports of all nodes, as of now, in the order in which they were added. */
    public List<PortView> portView() {
        return devices().stream().map(PortView::of).toList();
    }

    /** Rendezvous memory, as of now. */
    public MemoryView memoryView() {
        return MemoryView.of(core.memory());
    }

    /** The addresses that a partition knows, as of now. */
    public List<AddressView> addressView(String partition) {
        return AddressView.of(core.domain(partition));
    }

    /** What is in rendezvous memory, ports, partitions. */
    public FabricCore core() {
        return core;
    }

    /** The uplinks, in the order in which they were added. */
    public synchronized List<UplinkPort> uplinks() {
        return List.copyOf(uplinks);
    }

    /** The vNICs, in the order in which they were added. */
    public synchronized List<VnicDevice> devices() {
        return List.copyOf(devices);
    }

    /** Ends the fabric. All devices have been detached, and the workers closed. */
    @Override
    public void close() {
        core.close();
        if (own != null) {
            own.close();
        }
    }
}
