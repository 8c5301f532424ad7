// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import java.nio.file.Path;
import java.util.List;

/**
 * The one line on standard output, as JSON, once everything listens. Programs that start a server wait for it.
 *
 * @param event always {@code ready}
 * @param pid the server's process id
 * @param runDir the run directory
 * @param nodes the nodes and their sockets
 * @param api socket of the management interface
 */
public record ReadyEvent(String event, long pid, String runDir, List<NodeSockets> nodes, String api) {
    /** Where QEMU finds a node's devices. */
    public record NodeSockets(String name, int id, String agg, String imm, String mac) {}

    static ReadyEvent of(DeviceServer server, Path runDirectory, Path api) {
        List<NodeSockets> nodes = server.nodes().stream()
                .map(n -> new NodeSockets(
                        n.node().name(),
                        n.node().id(),
                        n.aggSocket().toString(),
                        n.immSocket().toString(),
                        n.node().mac().toString()))
                .toList();
        return new ReadyEvent("ready", ProcessHandle.current().pid(), runDirectory.toString(), nodes, api.toString());
    }
}
