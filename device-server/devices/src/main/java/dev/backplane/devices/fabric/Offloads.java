// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * Offloads as they pass through the fabric: the kinds, what an output port can take of them, and the check that what a
 * guest says about a frame fits the frame's own headers. Whoever takes the frame relies on that.
 */
public final class Offloads {
    public static final int GSO_NONE = 0;
    public static final int GSO_TCPV4 = 1;
    public static final int GSO_TCPV6 = 2;
    public static final int GSO_UDP = 3;

    /** Least payload of a TCP segment: Linux sends none smaller (net.ipv4.tcp_min_snd_mss). */
    static final int MIN_TCP_PAYLOAD = 48;
    /** Most datagrams of one frame: UDP_MAX_SEGMENTS of Linux. */
    static final int MAX_DATAGRAMS = 128;

    static final int TCP_HEADER = 20;
    static final int TCP_CHECKSUM = 16;
    static final int UDP_HEADER = 8;
    static final int UDP_CHECKSUM = 6;

    // What an output port can take; whatever it cannot is done in software on the way to it.

    /** Partial checksums. */
    public static final int TAKES_CHECKSUM = 1;
    /** Segmentation of TCP over IPv4. */
    public static final int TAKES_TSO4 = 2;
    /** Segmentation of TCP over IPv6. */
    public static final int TAKES_TSO6 = 4;
    /** Segmentation of UDP. */
    public static final int TAKES_UDP_SEGMENTATION = 8;
    /** A VLAN tag beside the frame. */
    public static final int TAKES_VLAN = 0x10;
    /** Nothing: complete packets only. */
    public static final int TAKES_NOTHING = 0;

    private Offloads() {}

    /** What a port has to take of these so that the frame goes out as it is, but for its tag. */
    static int needed(Frame frame) {
        int checksum = (frame.flags & Frame.CHECKSUM_PARTIAL) != 0 ? TAKES_CHECKSUM : 0;
        return checksum
                | switch (frame.gsoType) {
                    case GSO_TCPV4 -> TAKES_TSO4;
                    case GSO_TCPV6 -> TAKES_TSO6;
                    case GSO_UDP -> TAKES_UDP_SEGMENTATION;
                    default -> 0;
                };
    }

    /** Whether the frame's segmentation fields fit its headers, as {@code flow} has read them. */
    static boolean fit(Frame frame, FlowKey flow) {
        boolean v4 = flow.etherType == FlowKey.ETHERTYPE_IPV4;
        boolean v6 = flow.etherType == FlowKey.ETHERTYPE_IPV6;
        boolean checksum = (frame.flags & Frame.CHECKSUM_PARTIAL) != 0 && frame.csumStart == flow.transport;
        int payload = frame.length - frame.headerLength;
        if (!checksum || payload < 1 || frame.gsoSize < 1) {
            return false;
        }
        return switch (frame.gsoType) {
            case GSO_TCPV4, GSO_TCPV6 ->
                (frame.gsoType == GSO_TCPV4 ? v4 : v6)
                        && flow.protocol == FlowKey.PROTOCOL_TCP
                        && frame.csumOffset == TCP_CHECKSUM
                        && frame.headerLength >= flow.transport + TCP_HEADER
                        && frame.gsoSize >= MIN_TCP_PAYLOAD;
            case GSO_UDP ->
                (v4 || v6)
                        && flow.protocol == FlowKey.PROTOCOL_UDP
                        && frame.csumOffset == UDP_CHECKSUM
                        && frame.headerLength == flow.transport + UDP_HEADER
                        && payload <= (long) frame.gsoSize * MAX_DATAGRAMS;
            default -> false;
        };
    }
}
