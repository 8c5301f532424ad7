// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Lets many stations share a gateway that was made for one, such as passt: it answers for every IPv4 address that
 * somebody asks for, and sends all it has to the station that it heard last. So of ARP only what concerns the gateway's
 * own address passes, and a frame from it goes to the station that uses the destination's IPv4 address. Nothing but
 * untagged ARP and IPv4 passes at all.
 *
 * <p>The port's loop notes addresses, the loop of the way in looks them up.
 */
final class GatewayFilter {
    private static final ValueLayout.OfShort BE16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BE32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int ETHERTYPE = 12;
    private static final int ETHERTYPE_IPV4 = 0x0800;
    private static final int ETHERTYPE_ARP = 0x0806;
    private static final int SOURCE_MAC = 6;

    // Offsets in the frame of ARP for Ethernet and IPv4 (RFC 826) and of IPv4 (RFC 791).
    private static final int ARP_SENDER = 28;
    private static final int ARP_TARGET = 38;
    private static final int ARP_END = 42;
    private static final int IPV4_SOURCE = 26;
    private static final int IPV4_DESTINATION = 30;
    private static final int IPV4_END = 34;

    /** Stations by the lower half of their IPv4 address: Ethernet address, then the upper half; 0 for nobody. */
    private final AtomicLongArray stations = new AtomicLongArray(1 << 16);

    private final int gateway;

    /** A filter for the gateway with this IPv4 address. */
    GatewayFilter(int gateway) {
        this.gateway = gateway;
    }

    /** Whether a frame for the gateway may go there; notes who has sent it. */
    boolean goesOut(MemorySegment m, long at, int length) {
        int type = length < IPV4_END ? 0 : m.get(BE16, at + ETHERTYPE) & 0xffff;
        if (type == ETHERTYPE_IPV4) {
            note(m.get(BE32, at + IPV4_SOURCE), m, at);
            return true;
        }
        if (type == ETHERTYPE_ARP && length >= ARP_END && m.get(BE32, at + ARP_TARGET) == gateway) {
            note(m.get(BE32, at + ARP_SENDER), m, at);
            return true;
        }
        return false;
    }

    /** Whether a frame from the gateway may come in; addresses it to whom it is for. */
    boolean comesIn(MemorySegment m, long at, int length) {
        int type = length < IPV4_END ? 0 : m.get(BE16, at + ETHERTYPE) & 0xffff;
        if (type == ETHERTYPE_IPV4) {
            address(m.get(BE32, at + IPV4_DESTINATION), m, at);
            return true;
        }
        if (type == ETHERTYPE_ARP && length >= ARP_END && m.get(BE32, at + ARP_SENDER) == gateway) {
            address(m.get(BE32, at + ARP_TARGET), m, at);
            return true;
        }
        return false;
    }

    private void note(int ip, MemorySegment m, long at) {
        if (ip == 0) {
            return;
        }
        long upper = m.get(BE16, at + SOURCE_MAC) & 0xffffL;
        long lower = m.get(BE32, at + SOURCE_MAC + 2) & 0xffff_ffffL;
        long entry = (upper << 48) | (lower << 16) | (ip >>> 16);
        int index = ip & 0xffff;
        if (stations.getPlain(index) != entry) {
            stations.set(index, entry);
        }
    }

    private void address(int ip, MemorySegment m, long at) {
        long entry = stations.get(ip & 0xffff);
        if (entry != 0 && (entry & 0xffff) == (ip >>> 16)) {
            m.set(BE16, at, (short) (entry >>> 48));
            m.set(BE32, at + 2, (int) (entry >>> 16));
        }
    }
}
