// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The headers of one segment of a TCP or UDP frame: those of the frame with lengths, IP identification, sequence number,
 * flags and checksums of its own, as the sender's own stack would have made them. The frame's fields have been checked
 * ({@link Offloads#fit}), and its headers lie in its first cell.
 */
final class SegmentHeaders {
    private static final int IPV4_LENGTH = 2;
    private static final int IPV4_ID = 4;
    private static final int IPV4_PROTOCOL = 9;
    private static final int IPV4_CHECKSUM = 10;
    private static final int IPV4_ADDRESSES = 12;
    private static final int IPV6_LENGTH = 4;
    private static final int IPV6_NEXT_HEADER = 6;
    private static final int IPV6_ADDRESSES = 8;
    private static final int TCP_SEQUENCE = 4;
    private static final int TCP_DATA_OFFSET = 12;
    private static final int TCP_FLAGS = 13;
    private static final int UDP_LENGTH = 4;

    // TCP flags (RFC 9293, 3.1).
    private static final int FIN = 0x01;
    private static final int PSH = 0x08;
    private static final int CWR = 0x80;

    private SegmentHeaders() {}

    /** Whether the TCP header is as long as the frame's header length says; for other frames nothing is left to check. */
    static boolean fit(Frame f, MemorySegment m, long at) {
        if (f.gsoType == Offloads.GSO_UDP) {
            return true;
        }
        int words = (m.get(ValueLayout.JAVA_BYTE, at + f.csumStart + TCP_DATA_OFFSET) & 0xf0) >>> 4;
        return f.headerLength == f.csumStart + 4 * words;
    }

    /**
     * Writes the headers of segment {@code index} to {@code head} at {@code to}.
     *
     * @param m where the frame's headers are, at {@code at}
     * @param payload bytes of the segment's payload
     * @param payloadSum their sum
     * @param last whether it is the frame's last segment
     */
    static void compose(
            MemorySegment head,
            long to,
            MemorySegment m,
            long at,
            Frame f,
            int index,
            int payload,
            int payloadSum,
            boolean last) {
        MemorySegment.copy(m, at, head, to, f.headerLength);
        long ip = to + FlowKey.ETHERNET_HEADER;
        long transport = to + f.csumStart;
        int transportHeader = f.headerLength - f.csumStart;
        int bytes = transportHeader + payload;
        long sum = (long) payloadSum + bytes;
        if (head.get(FlowKey.BE16, ip - 2) == FlowKey.ETHERTYPE_IPV4) {
            int ipHeader = f.csumStart - FlowKey.ETHERNET_HEADER;
            ipv4(head, ip, ipHeader, ipHeader + bytes, index);
            sum += InternetChecksum.sum(head, ip + IPV4_ADDRESSES, 8);
            sum += head.get(ValueLayout.JAVA_BYTE, ip + IPV4_PROTOCOL) & 0xff;
        } else {
            head.set(FlowKey.BE16, ip + IPV6_LENGTH, (short) bytes);
            sum += InternetChecksum.sum(head, ip + IPV6_ADDRESSES, 32);
            sum += head.get(ValueLayout.JAVA_BYTE, ip + IPV6_NEXT_HEADER) & 0xff;
        }
        if (f.gsoType == Offloads.GSO_UDP) {
            head.set(FlowKey.BE16, transport + UDP_LENGTH, (short) bytes);
        } else {
            tcp(head, transport, index, index * f.gsoSize, last);
        }
        head.set(FlowKey.BE16, transport + f.csumOffset, (short) 0);
        sum += InternetChecksum.sum(head, transport, transportHeader);
        head.set(FlowKey.BE16, transport + f.csumOffset, InternetChecksum.field(sum));
    }

    private static void ipv4(MemorySegment head, long ip, int headerBytes, int bytes, int index) {
        head.set(FlowKey.BE16, ip + IPV4_LENGTH, (short) bytes);
        head.set(FlowKey.BE16, ip + IPV4_ID, (short) (head.get(FlowKey.BE16, ip + IPV4_ID) + index));
        head.set(FlowKey.BE16, ip + IPV4_CHECKSUM, (short) 0);
        int sum = InternetChecksum.sum(head, ip, headerBytes);
        head.set(FlowKey.BE16, ip + IPV4_CHECKSUM, (short) ~sum);
    }

    private static void tcp(MemorySegment head, long tcp, int index, int done, boolean last) {
        head.set(FlowKey.BE32, tcp + TCP_SEQUENCE, head.get(FlowKey.BE32, tcp + TCP_SEQUENCE) + done);
        int flags = head.get(ValueLayout.JAVA_BYTE, tcp + TCP_FLAGS);
        flags &= index == 0 ? -1 : ~CWR; // once for the window that was reduced (RFC 3168, 6.1.2)
        flags &= last ? -1 : ~(FIN | PSH);
        head.set(ValueLayout.JAVA_BYTE, tcp + TCP_FLAGS, (byte) flags);
    }
}
