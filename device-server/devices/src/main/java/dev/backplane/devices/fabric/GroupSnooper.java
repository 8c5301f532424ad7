// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Looks into multicast frames of one sender for IGMP (RFC 1112, 2236, 3376) and MLD (RFC 2710, 3810), and says where such
 * frames have to go (RFC 4541, 2.1). Used by its sender's loop, on frames in rendezvous memory.
 */
final class GroupSnooper {
    /** Where a multicast frame goes. */
    enum Where {
        /** To all ports. */
        ALL,
        /** To those where members or routers are. */
        MEMBERS,
        /** To those where routers are: reports must not reach hosts, which would keep back their own. */
        ROUTERS
    }

    private static final int PROTOCOL_IGMP = 2;
    private static final int PROTOCOL_PIM = 103;
    private static final int HOP_BY_HOP = 0;
    private static final int PROTOCOL_ICMPV6 = 58;

    private static final int IGMP_QUERY = 0x11;
    private static final int IGMP_V1_REPORT = 0x12;
    private static final int IGMP_V2_REPORT = 0x16;
    private static final int IGMP_LEAVE = 0x17;
    private static final int IGMP_V3_REPORT = 0x22;
    private static final int MLD_QUERY = 130;
    private static final int MLD_V1_REPORT = 131;
    private static final int MLD_DONE = 132;
    private static final int MLD_V2_REPORT = 143;

    // Types of group records (RFC 3376, 4.2.12).
    private static final int TO_INCLUDE = 3;
    private static final int IS_INCLUDE = 1;
    private static final int ALLOW_NEW = 5;
    private static final int BLOCK_OLD = 6;

    /** Low bits of 224.0.0.1 and ff02::1. */
    private static final int ALL_SYSTEMS = 1;

    /** The first 25 bits of the address of an IPv4 group (RFC 1112, 6.4), and the first 16 of an IPv6 group's. */
    private static final long IPV4_GROUPS = 0x0100_5e00_0000L >>> 23;

    private static final long IPV6_GROUPS = 0x3333;

    private final GroupTable table;
    private final FabricCounters counters;
    private final int port;

    /** The group of the frame that was looked at last, as the table has it. */
    private long group;

    // Of the frame that is looked at.
    private MemorySegment m;
    private int vlan;
    private boolean v6;
    private int now;

    GroupSnooper(GroupTable table, FabricCounters counters, int port) {
        this.table = table;
        this.counters = counters;
        this.port = port;
    }

    /**
     * Looks at a frame.
     *
     * @param to its destination, a group address but not broadcast
     * @param at where its Ethernet header is, of which {@code length} bytes are in one piece
     */
    Where look(MemorySegment memory, long at, int length, Frame frame, long to, int seconds) {
        m = memory;
        vlan = frame.vlan();
        now = seconds;
        int etherType = m.get(FlowKey.BE16, at + 12) & 0xffff;
        if (to >>> 23 == IPV4_GROUPS && etherType == FlowKey.ETHERTYPE_IPV4) {
            v6 = false;
            group = GroupTable.group(vlan, false, (int) to & 0x7f_ffff);
            return ipv4(at + FlowKey.ETHERNET_HEADER, length - FlowKey.ETHERNET_HEADER, (int) to & 0x7f_ffff);
        }
        if (to >>> 32 == IPV6_GROUPS && etherType == FlowKey.ETHERTYPE_IPV6) {
            v6 = true;
            group = GroupTable.group(vlan, true, (int) to);
            return ipv6(at + FlowKey.ETHERNET_HEADER, length - FlowKey.ETHERNET_HEADER, (int) to);
        }
        return Where.ALL;
    }

    /** The group of the frame that {@link #look} has just been given. */
    long group() {
        return group;
    }

    private Where data(boolean linkLocal) {
        if (linkLocal || !table.active(vlan, v6, now)) {
            return Where.ALL;
        }
        if (!table.known(group, now)) {
            counters.unregistered.increment();
            return Where.ALL;
        }
        return Where.MEMBERS;
    }

    private Where ipv4(long ip, int length, int low) {
        int header = length < 20 ? 0 : (u8(ip) & 0xf) * 4;
        int protocol = length < 20 ? 0 : u8(ip + 9);
        boolean linkLocal = low >>> 8 == 0; // 224.0.0.0/24 is flooded (RFC 4541, 2.1.2)
        if (protocol == PROTOCOL_PIM) {
            table.router(vlan, false, port, false, now);
        }
        if (protocol != PROTOCOL_IGMP) {
            return data(linkLocal);
        }
        int bytes = Math.min(u16(ip + 2), length) - header;
        if (header < 20 || bytes < 8 || u16(ip + 2) > length || InternetChecksum.sum(m, ip + header, bytes) != 0xffff) {
            return bad();
        }
        return igmp(ip + header, bytes, low);
    }

    private Where igmp(long igmp, int bytes, int low) {
        switch (u8(igmp)) {
            case IGMP_QUERY -> {
                return query(low);
            }
            case IGMP_V1_REPORT, IGMP_V2_REPORT -> join(ipv4Group(igmp + 4));
            case IGMP_LEAVE -> leave(ipv4Group(igmp + 4));
            case IGMP_V3_REPORT -> {
                if (!records(igmp, bytes, 4)) {
                    return bad();
                }
            }
            default -> {
                return Where.ALL;
            }
        }
        return reported();
    }

    private Where ipv6(long ip, int length, int low) {
        // All nodes and such, and solicited-node addresses, without which nobody finds anybody (RFC 4291, 2.7.1).
        boolean linkLocal = low >>> 8 == 0 || low >>> 24 == 0xff;
        int bytes = length < 48 ? 0 : u16(ip + 4) - 8;
        // Messages of MLD have a router alert, in a hop-by-hop header of eight bytes.
        if (length < 48 || u8(ip + 6) != HOP_BY_HOP || u8(ip + 40) != PROTOCOL_ICMPV6 || u8(ip + 41) != 0) {
            return data(linkLocal);
        }
        long icmp = ip + 48;
        int type = bytes < 8 || length < 56 ? 0 : u8(icmp);
        if (type != MLD_QUERY && type != MLD_V1_REPORT && type != MLD_DONE && type != MLD_V2_REPORT) {
            return data(linkLocal);
        }
        if (bytes > length - 48 || (type != MLD_V2_REPORT && bytes < 24) || !intact(ip, icmp, bytes)) {
            return bad();
        }
        switch (type) {
            case MLD_QUERY -> {
                return query(low);
            }
            case MLD_V1_REPORT -> join(ipv6Group(icmp + 8));
            case MLD_DONE -> leave(ipv6Group(icmp + 8));
            default -> {
                if (!records(icmp, bytes, 16)) {
                    return bad();
                }
            }
        }
        return reported();
    }

    private boolean intact(long ip, long icmp, int bytes) {
        long sum = (long) InternetChecksum.sum(m, ip + 8, 32) + bytes + PROTOCOL_ICMPV6;
        return InternetChecksum.fold(sum + InternetChecksum.sum(m, icmp, bytes)) == 0xffff;
    }

    /** The group records of IGMPv3 and MLDv2, which differ in the size of an address only. */
    private boolean records(long message, int bytes, int addressBytes) {
        int count = u16(message + 6);
        int at = 8;
        for (int i = 0; i < count; i++) {
            if (at + 4 + addressBytes > bytes) {
                return false;
            }
            int type = u8(message + at);
            int sources = u16(message + at + 2);
            long g = addressBytes == 4 ? ipv4Group(message + at + 4) : ipv6Group(message + at + 4);
            if ((type == TO_INCLUDE || type == IS_INCLUDE) && sources == 0) {
                leave(g);
            } else if (type >= IS_INCLUDE && type <= ALLOW_NEW) {
                join(g);
            } else if (type != BLOCK_OLD) {
                return false;
            }
            at += 4 + addressBytes + sources * addressBytes + u8(message + at + 1) * 4;
        }
        return true;
    }

    /** A query to all, 224.0.0.1 or ff02::1, makes a querier: everybody answers it. Others change nothing here. */
    private Where query(int low) {
        counters.reports.increment();
        if (low != ALL_SYSTEMS) {
            return data(false);
        }
        table.router(vlan, v6, port, true, now);
        return Where.ALL;
    }

    private Where reported() {
        counters.reports.increment();
        return table.active(vlan, v6, now) ? Where.ROUTERS : Where.ALL;
    }

    /** What cannot be read may be a report: its port gets all groups, so that nobody misses what it asked for. */
    private Where bad() {
        counters.badReports.increment();
        table.open(port, now + GroupTable.MEMBER_SECONDS);
        return Where.ALL;
    }

    private void join(long g) {
        if (!table.join(g, port, now)) {
            counters.groupsRefused.increment();
        }
    }

    private void leave(long g) {
        table.leave(g, port, now);
    }

    private long ipv4Group(long at) {
        return GroupTable.group(vlan, false, m.get(FlowKey.BE32, at) & 0x7f_ffff);
    }

    private long ipv6Group(long at) {
        return GroupTable.group(vlan, true, m.get(FlowKey.BE32, at + 12));
    }

    private int u8(long at) {
        return m.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }

    private int u16(long at) {
        return m.get(FlowKey.BE16, at) & 0xffff;
    }
}
