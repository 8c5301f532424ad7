// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.MacAddress;
import java.util.List;

/**
 * One address that a partition knows.
 *
 * @param mac the address
 * @param vlan its VLAN, 0 for all
 * @param port name of the port that it is at
 * @param fixed whether it is fixed there
 * @param lastSeenSecond time of its latest frame on the fabric's clock, 0 if fixed
 */
public record AddressView(MacAddress mac, int vlan, String port, boolean fixed, int lastSeenSecond) {
    public static List<AddressView> of(ForwardingDomain domain) {
        return domain.table().entries().stream()
                .map(e -> new AddressView(
                        new MacAddress(e.mac()), e.vlan(), domain.port(e.port()).name(), e.fixed(), e.seconds()))
                .toList();
    }
}
