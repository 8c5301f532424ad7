// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.uplink.Uplink;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An uplink as JSON.
 *
 * @param kind what its far side is
 * @param endpoint where that is
 * @param state what the far side is doing
 */
record UplinkView(String name, String kind, String endpoint, String state, String partition, int mtu, PortState port) {
    /**
     * Its port in the switch fabric.
     *
     * @param admin {@code up} or {@code down}: what the management side wants
     * @param link {@code up} or {@code down}
     * @param output state of the output side
     * @param queuedFrames frames in its memory output queues
     * @param heldBytes rendezvous memory that is charged to it
     * @param quotaBytes most that may be
     */
    record PortState(String admin, String link, String output, int queuedFrames, long heldBytes, long quotaBytes) {}

    static Map<String, List<UplinkView>> all(DeviceServer server) {
        return Map.of(
                "uplinks", server.uplinks().stream().map(u -> of(server, u)).toList());
    }

    static UplinkView of(DeviceServer server, Uplink uplink) {
        UplinkPort p = uplink.port();
        long cell = server.fabric().memoryView().cellBytes();
        PortState port = new PortState(
                p.adminUp() ? "up" : "down",
                p.linkUp() ? "up" : "down",
                p.state().name().toLowerCase(Locale.ROOT),
                p.queuedFrames(),
                p.heldCells() * cell,
                p.quotaCells() * cell);
        return new UplinkView(
                p.name(),
                uplink.kind(),
                uplink.endpoint(),
                uplink.state(),
                p.settings().partition(),
                p.settings().mtu(),
                port);
    }
}
