// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What the fabric reads in a frame's headers: network and transport protocol, and a hash that is equal for all frames
 * of a flow. One instance per loop. A header that is cut off or malformed is no error here, only less is known.
 */
final class FlowKey {
    static final int ETHERTYPE_IPV4 = 0x0800;
    static final int ETHERTYPE_IPV6 = 0x86dd;
    static final int ETHERTYPE_VLAN = 0x8100;
    static final int PROTOCOL_TCP = 6;
    static final int PROTOCOL_UDP = 17;
    static final int PROTOCOL_SCTP = 132;
    static final int ETHERNET_HEADER = 14;
    static final int IPV6_HEADER = 40;

    static final ValueLayout.OfShort BE16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt BE32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfLong BE64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Flags and offset of an IPv4 fragment: anything but "don't fragment" (RFC 791). */
    private static final int FRAGMENT_MASK = 0x3fff;

    /** Type of the untagged frame. */
    int etherType;
    /** Transport protocol, 0 when unknown, and for fragments. */
    int protocol;
    /** Offset of the transport header in the frame, when {@link #protocol} is known. */
    int transport;
    /** The flow's hash. */
    int hash;

    /** Reads an untagged frame at {@code at}, of which {@code length} bytes are in one piece. */
    void parse(MemorySegment m, long at, int length) {
        etherType = m.get(BE16, at + 12) & 0xffff;
        protocol = 0;
        transport = 0;
        long h;
        if (etherType == ETHERTYPE_IPV4 && length >= ETHERNET_HEADER + 20) {
            h = ipv4(m, at, length);
        } else if (etherType == ETHERTYPE_IPV6 && length >= ETHERNET_HEADER + IPV6_HEADER) {
            h = ipv6(m, at, length);
        } else {
            h = mix(m.get(BE64, at), m.get(BE32, at + 8));
        }
        hash = (int) (h ^ h >>> 32);
    }

    private long ipv4(MemorySegment m, long at, int length) {
        long ip = at + ETHERNET_HEADER;
        int headerLength = (m.get(ValueLayout.JAVA_BYTE, ip) & 0xf) * 4;
        long h = mix(m.get(BE64, ip + 12), 0);
        boolean fragment = (m.get(BE16, ip + 6) & FRAGMENT_MASK) != 0;
        int p = m.get(ValueLayout.JAVA_BYTE, ip + 9) & 0xff;
        if (fragment || headerLength < 20) {
            return h;
        }
        return ports(m, at, length, ETHERNET_HEADER + headerLength, p, h);
    }

    private long ipv6(MemorySegment m, long at, int length) {
        long ip = at + ETHERNET_HEADER;
        long h = mix(m.get(BE64, ip + 8), m.get(BE64, ip + 16));
        h = mix(h ^ m.get(BE64, ip + 24), m.get(BE64, ip + 32));
        int p = m.get(ValueLayout.JAVA_BYTE, ip + 6) & 0xff;
        return ports(m, at, length, ETHERNET_HEADER + IPV6_HEADER, p, h);
    }

    private long ports(MemorySegment m, long at, int length, int offset, int p, long h) {
        if ((p != PROTOCOL_TCP && p != PROTOCOL_UDP && p != PROTOCOL_SCTP) || offset + 8 > length) {
            return h;
        }
        protocol = p;
        transport = offset;
        return mix(h ^ p, m.get(BE32, at + offset));
    }

    /** One round of a multiplicative hash; both inputs reach all bits of the upper half. */
    private static long mix(long a, long b) {
        long h = (a ^ 0x9e37_79b9_7f4a_7c15L) * 0xff51_afd7_ed55_8ccdL;
        h = (h ^ h >>> 33 ^ b) * 0xc4ce_b9fe_1a85_ec53L;
        return h ^ h >>> 29;
    }
}
