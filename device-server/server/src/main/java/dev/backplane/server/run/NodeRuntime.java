// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.devices.Node;
import dev.backplane.devices.agg.VnicDevice;
import dev.backplane.devices.imm.MessagingModule;
import java.util.List;

/**
 * A node that is being served.
 *
 * @param vnic its aggregation device
 * @param module its messaging module
 * @param agg the socket of the aggregation device
 * @param imm the socket of the messaging module
 */
public record NodeRuntime(Node node, VnicDevice vnic, MessagingModule module, DeviceSocket agg, DeviceSocket imm) {
    /** Both sockets. */
    public List<DeviceSocket> sockets() {
        return List.of(agg, imm);
    }

    /** Has both of its clients leave, without waiting for that: closing the sockets does. */
    void stop() {
        sockets().forEach(s -> s.server().stop());
    }
}
