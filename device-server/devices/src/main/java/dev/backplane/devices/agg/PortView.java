// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.PortState;
import dev.backplane.vfiouser.counter.CounterGroup;

/**
 * A node's port as of one moment.
 *
 * @param node whose port it is
 * @param config its settings
 * @param status state of its vNIC
 * @param adminUp whether it is not held down from the server's side
 * @param linkUp whether its link is up
 * @param epoch its epoch: what was queued in an earlier one is not delivered
 * @param state state of its output side
 * @param queuedFrames frames in its memory output queues
 * @param heldCells cells of rendezvous memory that are charged to it
 * @param quotaCells most cells that may be
 * @param counters its counters
 */
public record PortView(
        Node node,
        PortConfig config,
        VnicStatus status,
        boolean adminUp,
        boolean linkUp,
        int epoch,
        PortState state,
        int queuedFrames,
        int heldCells,
        int quotaCells,
        CounterGroup counters) {
    static PortView of(VnicDevice device) {
        VnicPort port = device.port();
        return new PortView(
                device.node(),
                port.config(),
                device.status(),
                device.adminUp(),
                device.linkUp(),
                port.currentEpoch(),
                port.state(),
                port.queuedFrames(),
                port.heldCells(),
                port.quotaCells(),
                device.counters());
    }
}
