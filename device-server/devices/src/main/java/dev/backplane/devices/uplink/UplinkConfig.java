// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.fabric.PortConfig;

/**
 * An uplink as the fabric has to know it.
 *
 * @param name what people call it, of the same form as a node's name, and of no node
 * @param partition the partition whose nodes it serves
 * @param port settings of its port; it has no address of its own, so there is no check of source addresses
 * @param mtu largest packet in bytes behind an Ethernet header, and a VLAN tag if there is one; longer ones are dropped
 * @param offloads what the far side takes of the fabric's offloads, {@code Offloads.TAKES_*} without the tag beside
 *     the frame; all else is done in software on the way to it
 * @param gateway IPv4 address of the far side, when that is a gateway which knows one station only ({@link
 *     GatewayFilter}); 0 for anything else
 */
public record UplinkConfig(String name, String partition, PortConfig port, int mtu, int offloads, int gateway) {
    /** Least MTU: RFC 791. */
    public static final int MIN_MTU = 68;
    /** Largest MTU: that of the vNICs. */
    public static final int MAX_MTU = 65_510;
    /** The MTU of Ethernet (IEEE 802.3). */
    public static final int DEFAULT_MTU = 1500;

    public UplinkConfig {
        Node.requireName("an uplink", name);
        Node.requireName("a partition", partition);
        if (mtu < MIN_MTU || mtu > MAX_MTU) {
            throw new IllegalArgumentException("uplink: mtu is " + MIN_MTU + " to " + MAX_MTU + ", not " + mtu);
        }
        if (port.antiSpoofing()) {
            throw new IllegalArgumentException(
                    "uplink " + name + ": anti_spoofing is for nodes, which have an address");
        }
    }

    /** An uplink of the default partition with Ethernet's MTU, towards a far side that takes no offloads. */
    public static UplinkConfig named(String name) {
        return new UplinkConfig(
                name, Node.DEFAULT_PARTITION, PortConfig.defaults(), DEFAULT_MTU, Offloads.TAKES_NOTHING, 0);
    }

    public UplinkConfig withPartition(String other) {
        return new UplinkConfig(name, other, port, mtu, offloads, gateway);
    }

    public UplinkConfig withPort(PortConfig other) {
        return new UplinkConfig(name, partition, other, mtu, offloads, gateway);
    }

    public UplinkConfig withMtu(int bytes) {
        return new UplinkConfig(name, partition, port, bytes, offloads, gateway);
    }

    public UplinkConfig withOffloads(int takes) {
        return new UplinkConfig(name, partition, port, mtu, takes, gateway);
    }

    public UplinkConfig withGateway(int address) {
        return new UplinkConfig(name, partition, port, mtu, offloads, address);
    }
}
