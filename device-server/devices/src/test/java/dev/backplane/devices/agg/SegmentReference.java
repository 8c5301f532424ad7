// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Segmentation and checksums the naive way, from the RFCs, as a judge of the fabric's: whole packets as arrays, one word
 * after the other. Frames are untagged and have an IP header without extension headers.
 */
final class SegmentReference {
    private SegmentReference() {}

    /** The packets of {@code frame}, whose payload after {@code headers} bytes is cut into pieces of {@code size}. */
    static List<byte[]> cut(byte[] frame, int headers, int size) {
        List<byte[]> all = new ArrayList<>();
        for (int at = headers, i = 0; at < frame.length; at += size, i++) {
            int n = Math.min(size, frame.length - at);
            byte[] packet = Arrays.copyOf(frame, headers + n);
            System.arraycopy(frame, at, packet, headers, n);
            number(packet, i, at - headers, at + n == frame.length);
            all.add(packet);
        }
        return all;
    }

    private static void number(byte[] packet, int index, int done, boolean last) {
        ByteBuffer b = ByteBuffer.wrap(packet);
        boolean v4 = b.getShort(12) == 0x0800;
        int transport = transport(packet);
        if (v4) {
            b.putShort(16, (short) (packet.length - 14));
            b.putShort(18, (short) (b.getShort(18) + index));
            b.putShort(24, (short) 0);
            b.putShort(24, (short) ~sum(packet, 14, transport, 0));
        } else {
            b.putShort(18, (short) (packet.length - 54));
        }
        if (protocol(packet) == 6) {
            b.putInt(transport + 4, b.getInt(transport + 4) + done);
            int flags = packet[transport + 13] & 0xff;
            if (index > 0) {
                flags &= ~0x80;
            }
            if (!last) {
                flags &= ~0x09;
            }
            packet[transport + 13] = (byte) flags;
        } else {
            b.putShort(transport + 4, (short) (packet.length - transport));
        }
        int at = transport + (protocol(packet) == 6 ? 16 : 6);
        b.putShort(at, (short) 0);
        int checksum = ~sum(packet, transport, packet.length, pseudo(packet)) & 0xffff;
        b.putShort(at, (short) (checksum == 0 ? 0xffff : checksum));
    }

    /** Whether the transport checksum, and that of an IPv4 header, are right. */
    static boolean intact(byte[] packet) {
        int transport = transport(packet);
        boolean header = ByteBuffer.wrap(packet).getShort(12) != 0x0800 || sum(packet, 14, transport, 0) == 0xffff;
        return header && sum(packet, transport, packet.length, pseudo(packet)) == 0xffff;
    }

    /** What a stack leaves in the checksum field for the device to complete: the sum of the pseudo header. */
    static int pseudo(byte[] packet) {
        boolean v4 = ByteBuffer.wrap(packet).getShort(12) == 0x0800;
        int more = protocol(packet) + packet.length - transport(packet);
        return v4 ? sum(packet, 26, 34, more) : sum(packet, 22, 54, more);
    }

    static int transport(byte[] packet) {
        return ByteBuffer.wrap(packet).getShort(12) == 0x0800 ? 14 + 4 * (packet[14] & 0xf) : 54;
    }

    private static int protocol(byte[] packet) {
        return packet[ByteBuffer.wrap(packet).getShort(12) == 0x0800 ? 23 : 20];
    }

    /** RFC 1071, word by word. */
    private static int sum(byte[] m, int from, int to, int start) {
        int sum = start;
        for (int i = from; i < to; i++) {
            sum += (m[i] & 0xff) << ((i - from) % 2 == 0 ? 8 : 0);
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return (sum & 0xffff) + (sum >>> 16);
    }
}
