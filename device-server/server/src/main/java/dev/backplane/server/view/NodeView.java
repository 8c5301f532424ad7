// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.devices.agg.PortView;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.server.run.NodeRuntime;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.server.ClientView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A node as JSON. */
record NodeView(String name, int id, String mac, String partition, PortState port, DeviceState agg, DeviceState imm) {
    /**
     * Its port in the switch fabric.
     *
     * @param admin {@code up} or {@code down}: what the server's side wants
     * @param link {@code up} or {@code down}: what the guest sees
     * @param vnic state of the vNIC
     * @param output state of the output side
     * @param epoch grows whenever the port goes down: frames queued in an earlier epoch are not delivered
     * @param queuedFrames frames in its memory output queues
     * @param heldBytes rendezvous memory that is charged to it
     * @param quotaBytes most that may be
     */
    record PortState(
            String admin,
            String link,
            String vnic,
            String output,
            int speedMbit,
            int epoch,
            int queuedFrames,
            long heldBytes,
            long quotaBytes) {}

    /**
     * A device's socket.
     *
     * @param connected whether a client is there
     * @param busMaster whether the guest lets the device access its memory
     * @param windows DMA windows that the client has mapped
     * @param memoryBroken whether it has truncated its memory, so that the device stands still
     * @param client the client; null when there is none
     */
    record DeviceState(
            String socket, boolean connected, boolean busMaster, int windows, boolean memoryBroken, Client client) {}

    /**
     * A client.
     *
     * @param pid its process id, 0 if unknown
     * @param name its program's name; null if unknown
     * @param capabilities what it said in VERSION; null before that
     */
    record Client(int pid, String name, Capabilities capabilities) {}

    static Map<String, List<NodeView>> all(DeviceServer server) {
        List<NodeView> views = new ArrayList<>();
        List<PortView> ports = server.fabric().portView();
        int cell = server.fabric().memoryView().cellBytes();
        for (NodeRuntime n : server.nodes()) {
            ports.stream().filter(p -> p.node().equals(n.node())).forEach(p -> views.add(of(n, p, cell)));
        }
        return Map.of("nodes", views);
    }

    static NodeView of(DeviceServer server, NodeRuntime node) {
        PortView port = server.fabric().portView().stream()
                .filter(p -> p.node().equals(node.node()))
                .findFirst()
                .orElseThrow();
        return of(node, port, server.fabric().memoryView().cellBytes());
    }

    private static NodeView of(NodeRuntime n, PortView p, int cellBytes) {
        PortState port = new PortState(
                upOrDown(p.adminUp()),
                upOrDown(p.linkUp()),
                p.status().name().toLowerCase(Locale.ROOT),
                p.state().name().toLowerCase(Locale.ROOT),
                p.config().speedMbit(),
                p.epoch(),
                p.queuedFrames(),
                (long) p.heldCells() * cellBytes,
                (long) p.quotaCells() * cellBytes);
        return new NodeView(
                n.node().name(),
                n.node().id(),
                n.node().mac().toString(),
                n.node().partition(),
                port,
                device(n.agg()),
                device(n.imm()));
    }

    private static DeviceState device(DeviceSocket d) {
        return new DeviceState(
                d.server().path().toString(),
                d.server().connected(),
                d.server().busMaster(),
                d.server().windows(),
                d.server().memoryBroken(),
                client(d.server().client()));
    }

    private static Client client(ClientView view) {
        return view == null ? null : new Client(view.pid(), programName(view.pid()), view.capabilities());
    }

    private static String programName(int pid) {
        try {
            return Files.readString(Path.of("/proc", Integer.toString(pid), "comm"))
                    .strip();
        } catch (IOException e) {
            return null;
        }
    }

    private static String upOrDown(boolean up) {
        return up ? "up" : "down";
    }
}
