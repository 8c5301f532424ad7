// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.AddressView;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.MemoryView;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.loop.Workers;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The switch fabric with its ports: one vNIC for each node. Ports are added while the server starts or runs, from any
 * thread; they stay until the fabric is closed.
 */
public final class SwitchFabric implements AutoCloseable {
    private final FabricCore core;
    private final Arena own;
    private final List<VnicDevice> devices = new ArrayList<>();

    /** A fabric without ports, with rendezvous memory of its own. */
    public SwitchFabric(FabricConfig config, Workers workers) {
        this(config, workers, Arena.ofShared(), null);
    }

    /**
     * A fabric without ports.
     *
     * @param memory rendezvous memory: zero, aligned to 4096 bytes, accessible from any thread, and of the size in
     *     {@code config}; the caller releases it after {@link #close}
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
        if (devices.size() >= core.config().maxPorts()) {
            throw new IllegalStateException("the fabric has " + core.config().maxPorts() + " ports, all in use");
        }
        ForwardingDomain domain = core.domain(node.partition());
        VnicDevice device = new VnicDevice(node, config, core, domain, devices.size());
        domain.add(device.port());
        domain.fix(node.mac(), device.port());
        devices.add(device);
        for (VnicDevice d : devices) {
            mirror(d, device);
            mirror(device, d);
        }
        return device;
    }

    /** Ports may be added in any order: a mirror begins when both are there. */
    private static void mirror(VnicDevice from, VnicDevice to) {
        if (!to.node().name().equals(from.port().config().mirrorTo()) || from == to) {
            return;
        }
        if (!from.node().partition().equals(to.node().partition())) {
            throw new IllegalArgumentException(from.node() + " cannot be mirrored to " + to.node()
                    + ": nodes of different partitions never exchange a frame");
        }
        from.port().mirror(to.port());
    }

    /** Counters of all partitions together. */
    public CounterGroup counters() {
        return core.counters().group();
    }

    /** All ports, as of now, in the order in which they were added. */
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
