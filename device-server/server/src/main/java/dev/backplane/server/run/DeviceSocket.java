// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.server.trace.TraceTap;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.server.ListenException;
import dev.backplane.vfiouser.server.ServerOptions;
import dev.backplane.vfiouser.server.VfioUserServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One device of one node on its vfio-user socket. Any thread may call. */
public final class DeviceSocket implements AutoCloseable {
    private final DeviceKind kind;
    private final VfioUserServer server;
    private final CounterGroup deviceCounters;
    private final TraceTap trace;

    private DeviceSocket(DeviceKind kind, String name, VfioUserServer server, CounterGroup deviceCounters) {
        this.kind = kind;
        this.server = server;
        this.deviceCounters = deviceCounters;
        this.trace = new TraceTap(name, server::trace);
    }

    /**
     * Listens for the node's QEMU.
     *
     * @param counters what the device counts
     * @param spin shared by all sockets of the server
     */
    static DeviceSocket listen(
            DeviceKind kind, String node, Path path, PciDevice device, CounterGroup counters, SpinBudget spin)
            throws ListenException {
        String name = node + "." + kind.label();
        ServerOptions options = ServerOptions.named(name).withSpin(spin);
        return new DeviceSocket(kind, name, VfioUserServer.listen(device, path, options), counters);
    }

    public DeviceKind kind() {
        return kind;
    }

    /** The socket, and who is connected to it. */
    public VfioUserServer server() {
        return server;
    }

    /** What the device counts, then what its connection, interrupts and memory count. */
    public List<CounterGroup> counters() {
        List<CounterGroup> all = new ArrayList<>();
        all.add(deviceCounters);
        all.addAll(server.counters());
        return all;
    }

    /** Where its messages can be watched. */
    public TraceTap trace() {
        return trace;
    }

    @Override
    public void close() {
        server.close();
    }
}
