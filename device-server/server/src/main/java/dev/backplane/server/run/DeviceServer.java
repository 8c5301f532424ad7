// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.devices.Node;
import dev.backplane.devices.loop.Workers;
import dev.backplane.server.api.ApiServer;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
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

    private final Deque<Started> started = new ArrayDeque<>();
    private final Topology topology;
    private final ServeOptions options;
    private final Map<String, NodeRuntime> nodes = new TreeMap<>();
    private final List<NodeRuntime> inOrder = new ArrayList<>();
    private Workers workers;
    private Path apiSocket;

    private DeviceServer(Topology topology, ServeOptions options) {
        this.topology = topology;
        this.options = options;
    }

    /**
     * Starts a server; when this returns, everything listens.
     *
     * @throws StartException when something stands in the way: nothing is left behind
     */
    public static DeviceServer start(Topology topology, ServeOptions options) throws StartException {
        DeviceServer server = new DeviceServer(topology, options);
        try {
            server.open();
            return server;
        } catch (StartException e) {
            server.close();
            throw e;
        } catch (IOException e) {
            server.close();
            throw new StartException(e.getMessage() + ": " + (e.getCause() == null ? e : e.getCause()), e);
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    private void open() throws StartException, IOException {
        RunDirectory directory = RunDirectory.take(options.runDirectory());
        opened("run directory", directory);
        workers = new Workers(
                options.debug() ? Workers.Mode.DEBUG : Workers.Mode.INLINE, options.workers(), loops(topology));
        opened("workers", workers);
        for (Topology.NodeSpec spec : topology.nodes()) {
            Node node = spec.node();
            NodeRuntime runtime = new NodeRuntime(
                    node, directory.socket(node.name() + ".agg.sock"), directory.socket(node.name() + ".imm.sock"));
            nodes.put(node.name(), runtime);
            inOrder.add(runtime);
        }
        EventLoopGroup events = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        opened(
                "event loop",
                () -> events.shutdownGracefully(0, 1, TimeUnit.SECONDS).await());
        apiSocket = directory.socket("backplane.sock");
        opened("management interface", new ApiServer(apiSocket, ManagementRoutes.of(this), events));
        LOG.info("serving {} nodes in {}", inOrder.size(), directory.path());
    }

    private void opened(String name, AutoCloseable closing) {
        started.push(new Started(name, closing));
    }

    /** Drain loops that the workers may have to take, all at a time. */
    private static int loops(Topology topology) {
        return 1024 + 64 * topology.nodes().size();
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

    /** Threads that take what does not fit a turn. */
    public Workers workers() {
        return workers;
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
