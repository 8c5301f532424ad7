// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.devices.Node;
import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.agg.SwitchFabric;
import dev.backplane.devices.agg.VnicDevice;
import dev.backplane.devices.imm.MessagingConfig;
import dev.backplane.devices.imm.MessagingFabric;
import dev.backplane.devices.imm.MessagingModule;
import dev.backplane.devices.loop.Workers;
import dev.backplane.devices.uplink.UplinkConfig;
import dev.backplane.server.api.ApiServer;
import dev.backplane.server.api.Router;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.topology.UplinkSettings;
import dev.backplane.server.trace.TraceStream;
import dev.backplane.server.uplink.StreamOptions;
import dev.backplane.server.uplink.StreamUplink;
import dev.backplane.server.uplink.TapUplink;
import dev.backplane.server.uplink.Uplink;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.server.ListenException;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server: the fabrics, a pair of devices for each node, their sockets, and the management interface. Once started
 * it does not change but by what clients do. Any thread may call.
 */
public final class DeviceServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceServer.class);

    /** Something to undo, and its name for the log. */
    private record Started(String name, AutoCloseable closing) {}

    private static final int LOGGED_NODES = 16;

    private final Deque<Started> started = new ArrayDeque<>();
    private final Topology topology;
    private final ServeOptions options;
    private final Map<String, NodeRuntime> nodes = new TreeMap<>();
    private final List<NodeRuntime> inOrder = new ArrayList<>();
    private final List<Uplink> uplinks = new ArrayList<>();
    private final TraceStream.Counts traceCounts = new TraceStream.Counts();
    private Workers workers;
    private SwitchFabric fabric;
    private MessagingFabric messaging;
    private Path apiSocket;

    private DeviceServer(Topology topology, ServeOptions options) {
        this.topology = topology;
        this.options = options;
    }

    /**
     * Starts a server; when this returns, everything listens.
     *
     * @param routes makes what its management interface answers
     * @throws StartException when something stands in the way: nothing is left behind
     */
    public static DeviceServer start(Topology topology, ServeOptions options, Function<DeviceServer, Router> routes)
            throws StartException {
        DeviceServer server = new DeviceServer(topology, options);
        try {
            server.open(routes);
            return server;
        } catch (StartException e) {
            server.close();
            throw e;
        } catch (ListenException e) {
            server.close();
            throw new StartException(e.getMessage(), e);
        } catch (IOException e) {
            server.close();
            throw new StartException(e.getMessage() + ": " + (e.getCause() == null ? e : e.getCause()), e);
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    private void open(Function<DeviceServer, Router> routes) throws StartException, IOException {
        RunDirectory directory = RunDirectory.take(options.runDirectory());
        opened("run directory", directory);
        workers = new Workers(
                options.debug() ? Workers.Mode.DEBUG : Workers.Mode.INLINE, options.workers(), loops(topology));
        opened("workers", workers);
        RendezvousFile memory = RendezvousFile.allocate(
                topology.fabric().rendezvousBytes(), topology.fabric().hugePages());
        fabric = new SwitchFabric(topology.fabric(), memory.segment(), workers);
        opened("switch fabric", fabric);
        messaging = new MessagingFabric(messagingConfig(), workers);
        opened("messaging fabric", messaging);
        SpinBudget spin = spinBudget();
        for (Topology.NodeSpec spec : topology.nodes()) {
            NodeRuntime runtime = serve(spec, directory.path(), spin);
            nodes.put(spec.node().name(), runtime);
            inOrder.add(runtime);
        }
        opened("sockets of all nodes", () -> inOrder.forEach(NodeRuntime::stop));
        serveUplinks(directory);
        EventLoopGroup events = eventLoop("event loop");
        apiSocket = directory.socket("backplane.sock");
        opened("management interface", new ApiServer(apiSocket, routes.apply(this), events));
        topology.summary(LOGGED_NODES).forEach(LOG::info);
        LOG.info(
                "serving {} nodes{} in {} with {} workers{}{}",
                inOrder.size(),
                uplinks.isEmpty() ? "" : " and " + uplinks.size() + " uplinks",
                directory.path(),
                options.workers(),
                options.debug() ? ", device code on workers only" : "",
                options.poll() ? ", polling" : "");
    }

    private NodeRuntime serve(Topology.NodeSpec spec, Path directory, SpinBudget spin) throws ListenException {
        Node node = spec.node();
        VnicDevice vnic = fabric.addNode(node, spec.port());
        DeviceSocket agg = listen(DeviceKind.AGG, node, directory, vnic, vnic.counters(), spin);
        MessagingModule module = messaging.addNode(node);
        DeviceSocket imm = listen(DeviceKind.IMM, node, directory, module, module.counters(), spin);
        return new NodeRuntime(node, vnic, module, agg, imm);
    }

    private void serveUplinks(RunDirectory directory) throws StartException {
        EventLoopGroup streams = null;
        for (Topology.UplinkSpec spec : topology.uplinks()) {
            UplinkSettings settings = spec.settings();
            UplinkConfig config = settings.config(spec.port());
            Uplink uplink;
            try {
                if (settings.tap() != null) {
                    uplink = TapUplink.open(fabric, config, settings.tap());
                } else {
                    if (streams == null) {
                        // A thread of their own: an answer of the management interface may take milliseconds.
                        streams = eventLoop("event loop of uplinks");
                    }
                    StreamOptions how = stream(settings, directory);
                    uplink = StreamUplink.open(fabric.addUplink(config), how, streams.next());
                }
            } catch (IOException e) {
                throw new StartException("uplink " + settings.name() + ": " + e.getMessage(), e);
            }
            opened("uplink " + settings.name(), uplink);
            uplinks.add(uplink);
        }
    }

    private static StreamOptions stream(UplinkSettings settings, RunDirectory directory) throws StartException {
        boolean listens = settings.listen() != null;
        Path path = listens ? directory.socket(settings.listen()) : directory.peer(settings.connect());
        return new StreamOptions(path, listens, settings.reconnectMillis());
    }

    private EventLoopGroup eventLoop(String name) {
        EventLoopGroup group = EventLoops.one();
        opened(name, () -> EventLoops.end(group));
        return group;
    }

    private DeviceSocket listen(
            DeviceKind kind, Node node, Path directory, PciDevice device, CounterGroup counters, SpinBudget spin)
            throws ListenException {
        Path path = directory.resolve(kind.socketName(node.name()));
        DeviceSocket socket = DeviceSocket.listen(kind, node.name(), path, device, counters, spin);
        opened("socket " + path.getFileName(), socket);
        return socket;
    }

    /** Polling mode: the pollers of the messaging module never sleep while a context is open. */
    private MessagingConfig messagingConfig() {
        MessagingConfig config = topology.messaging();
        return options.poll() ? config.withPollers(config.pollers(), true) : config;
    }

    /** Polling mode: every connection may spin before it sleeps, not just as many as there are processors to spare. */
    private SpinBudget spinBudget() {
        return options.poll() ? new SpinBudget(2 * topology.nodes().size()) : SpinBudget.ofMachine();
    }

    private void opened(String name, AutoCloseable closing) {
        started.push(new Started(name, closing));
    }

    /** Drain loops that the workers may have to take, all at a time. */
    private static int loops(Topology topology) {
        MessagingConfig m = topology.messaging();
        // Queues and port of a vNIC, contexts and rings of a messaging module with its four own, and a few of the
        // server.
        int node = 2 * AggRegisters.MAX_QUEUE_PAIRS + 1 + m.contexts() + m.rings() + 4;
        long uplink = 3; // its two directions, and those who wait for it
        return Math.toIntExact(64
                + (long) node * topology.nodes().size()
                + uplink * topology.uplinks().size());
    }

    /** What the topology said. */
    public Topology topology() {
        return topology;
    }

    /** The nodes, in the order of the topology. */
    public List<NodeRuntime> nodes() {
        return List.copyOf(inOrder);
    }

    /** The node of that name, or null. */
    public NodeRuntime node(String name) {
        return nodes.get(name);
    }

    /** The uplinks, in the order of the topology. */
    public List<Uplink> uplinks() {
        return List.copyOf(uplinks);
    }

    /** The uplink of that name, or null. */
    public Uplink uplink(String name) {
        return uplinks.stream()
                .filter(u -> u.port().name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Threads that take what does not fit a turn. */
    public Workers workers() {
        return workers;
    }

    /** The switch fabric. */
    public SwitchFabric fabric() {
        return fabric;
    }

    /** The messaging fabric. */
    public MessagingFabric messaging() {
        return messaging;
    }

    /** What trace watchers see and miss. */
    public TraceStream.Counts traceCounts() {
        return traceCounts;
    }

    /** Counters that belong to no node, by a short name. */
    public Map<String, CounterGroup> commonCounters() {
        Map<String, CounterGroup> common = new LinkedHashMap<>();
        common.put("fabric", fabric.counters());
        List<CounterGroup> pollers = messaging.counters();
        for (int i = 0; i < pollers.size(); i++) {
            common.put("poller" + i, pollers.get(i));
        }
        common.put("workers", workers.counters());
        common.put("trace", traceCounts.group());
        return common;
    }

    /** What is told when everything listens. */
    public ReadyEvent ready() {
        return new ReadyEvent(options.runDirectory(), nodes(), apiSocket);
    }

    /** Ends everything, in the opposite order of its start. Harmless when repeated. */
    @Override
    public synchronized void close() {
        while (!started.isEmpty()) {
            Started last = started.pop();
            try {
                last.closing.close();
            } catch (Exception e) {
                LOG.error("cannot close the {}", last.name, e);
            }
        }
    }
}
