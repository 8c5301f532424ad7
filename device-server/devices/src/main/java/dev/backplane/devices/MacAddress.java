// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * An Ethernet address.
 *
 * @param bits its 48 bits as a number: the first byte on the wire is the most significant one
 */
public record MacAddress(long bits) {
    /** The address of all stations. */
    public static final MacAddress BROADCAST = new MacAddress(0xffff_ffff_ffffL);

    private static final Pattern TEXT = Pattern.compile("([0-9a-f]{2}:){5}[0-9a-f]{2}");

    public MacAddress {
        if (bits >>> 48 != 0) {
            throw new IllegalArgumentException("an Ethernet address has 48 bits: 0x" + Long.toHexString(bits));
        }
    }

    /** The default address of a node: 02:ba:5c:00 and the node's id, locally administered. */
    public static MacAddress ofNode(int nodeId) {
        return new MacAddress(0x02ba_5c00_0000L | (nodeId & 0xffff));
    }

    /** Reads the usual form, such as {@code 02:ba:5c:00:00:01}. */
    public static MacAddress parse(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (!TEXT.matcher(lower).matches()) {
            throw new IllegalArgumentException(
                    "not an Ethernet address: \"" + text + "\"; write six bytes such as 02:ba:5c:00:00:01");
        }
        return new MacAddress(Long.parseLong(lower.replace(":", ""), 16));
    }

    /** Whether it names a group of stations; broadcast is one. */
    public boolean group() {
        return (bits & 0x0100_0000_0000L) != 0;
    }

    /** Byte {@code index} (0 to 5) in the order of the wire, unsigned. */
    public int octet(int index) {
        return (int) (bits >>> (40 - 8 * index)) & 0xff;
    }

    @Override
    public String toString() {
        StringBuilder s = new StringBuilder(17);
        for (int i = 0; i < 6; i++) {
            s.append(i == 0 ? "" : ":").append(Character.forDigit(octet(i) >>> 4, 16));
            s.append(Character.forDigit(octet(i) & 0xf, 16));
        }
        return s.toString();
    }
}
