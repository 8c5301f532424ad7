// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.uplink.UplinkConfig;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An uplink as a topology file has it. Exactly one of the keys that say what its far side is has a value.
 *
 * @param name name of the uplink, of no node
 * @param partition partition whose nodes it serves
 * @param connect path of a Unix socket on which somebody listens; null for none
 * @param listen path of a Unix socket to listen on; null for none
 * @param tap name of a TAP interface of the host; null for none
 * @param gateway IPv4 address of the far side when that is a gateway which knows one station only; null for anything
 *     else
 * @param mtu largest packet in bytes
 * @param reconnectMillis longest pause between attempts to connect
 */
public record UplinkSettings(
        String name,
        String partition,
        String connect,
        String listen,
        String tap,
        String gateway,
        int mtu,
        int reconnectMillis) {
    private static final Pattern INTERFACE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,14}");
    private static final Pattern IPV4 = Pattern.compile("([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})");

    /** What is not set in the file; without a far side, so not a whole uplink. */
    static UplinkSettings named(String name) {
        return new UplinkSettings(name, Node.DEFAULT_PARTITION, null, null, null, null, UplinkConfig.DEFAULT_MTU, 1000);
    }

    public UplinkSettings {
        UplinkConfig _ = UplinkConfig.named(name).withPartition(partition).withMtu(mtu);
        if (Stream.of(connect, listen, tap).filter(Objects::nonNull).count() > 1) {
            throw new IllegalArgumentException("an uplink has one far side: 'connect', 'listen' or 'tap'");
        }
        if (tap != null && !INTERFACE.matcher(tap).matches()) {
            throw new IllegalArgumentException("a TAP interface has a name of 1 to 15 letters, digits, dots, dashes");
        }
        if (gateway != null) {
            int _ = address(gateway);
        }
        if (reconnectMillis < 10 || reconnectMillis > 60_000) {
            throw new IllegalArgumentException("uplink: reconnect is 10ms to 60s, not " + reconnectMillis + "ms");
        }
    }

    private static int address(String text) {
        Matcher m = IPV4.matcher(text);
        int address = 0;
        boolean good = m.matches();
        for (int i = 1; good && i <= 4; i++) {
            int octet = Integer.parseInt(m.group(i));
            good = octet <= 255;
            address = address << 8 | octet;
        }
        if (!good || address == 0) {
            throw new IllegalArgumentException("a gateway is an IPv4 address such as 10.77.0.254, not " + text);
        }
        return address;
    }

    /** Whether it says what is behind it. */
    boolean complete() {
        return connect != null || listen != null || tap != null;
    }

    /** What the fabric has to know of it. */
    public UplinkConfig config(PortConfig port) {
        return UplinkConfig.named(name)
                .withPartition(partition)
                .withMtu(mtu)
                .withPort(port)
                .withGateway(gateway == null ? 0 : address(gateway));
    }
}
