// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A pcapng capture (draft-ietf-opsawg-pcapng) of vfio-user messages: one interface for each socket, link type {@value
 * #LINKTYPE_USER0}. A packet is the pseudo-header ({@value #PSEUDO_HEADER} bytes: version {@value #VERSION}, direction 0 from
 * the client or 1 from the server, number of file descriptors, 0) and then the message as it was on the socket, cut to
 * {@link TracedMessage#MAX_BYTES}. The dissector in {@code src/main/wireshark} reads this.
 */
final class PcapngFormat implements TraceFormat {
    /** LINKTYPE_USER0 of tcpdump's list: free for private use. */
    static final int LINKTYPE_USER0 = 147;

    static final int PSEUDO_HEADER = 4;
    static final int VERSION = 1;
    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int ENHANCED_PACKET = 6;

    private static final int OPTION_END = 0;
    private static final int OPTION_IF_NAME = 2;
    private static final int OPTION_IF_TSRESOL = 9;
    private static final int OPTION_USER_APPLICATION = 4;
    private static final int OPTION_EPB_FLAGS = 2;
    private static final int OPTION_EPB_DROPCOUNT = 4;

    private final List<String> interfaces;

    /** A capture of the sockets of these names. */
    PcapngFormat(List<String> interfaces) {
        this.interfaces = List.copyOf(interfaces);
    }

    @Override
    public byte[] head() {
        ByteBuffer out = ByteBuffer.allocate(128 + 256 * interfaces.size()).order(ByteOrder.LITTLE_ENDIAN);
        int start = begin(out, SECTION_HEADER);
        out.putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(-1);
        option(out, OPTION_USER_APPLICATION, "backplane".getBytes(StandardCharsets.UTF_8));
        option(out, OPTION_END, new byte[0]);
        end(out, start);
        for (String name : interfaces) {
            start = begin(out, INTERFACE_DESCRIPTION);
            out.putShort((short) LINKTYPE_USER0).putShort((short) 0).putInt(PSEUDO_HEADER + TracedMessage.MAX_BYTES);
            option(out, OPTION_IF_NAME, name.getBytes(StandardCharsets.UTF_8));
            option(out, OPTION_IF_TSRESOL, new byte[] {9}); // nanoseconds
            option(out, OPTION_END, new byte[0]);
            end(out, start);
        }
        return contents(out);
    }

    @Override
    public byte[] message(TracedMessage m, long dropped) {
        int kept = m.kept();
        ByteBuffer out = ByteBuffer.allocate(96 + PSEUDO_HEADER + kept).order(ByteOrder.LITTLE_ENDIAN);
        int start = begin(out, ENHANCED_PACKET);
        out.putInt(interfaces.indexOf(m.socket()))
                .putInt((int) (m.nanos() >>> 32))
                .putInt((int) m.nanos());
        out.putInt(PSEUDO_HEADER + kept).putInt(PSEUDO_HEADER + m.size());
        out.put((byte) VERSION)
                .put((byte) (m.fromClient() ? 0 : 1))
                .put((byte) Math.min(m.fds(), 255))
                .put((byte) 0);
        out.put(m.slice(0, kept));
        pad(out);
        // Direction, as bits 0 and 1 of the flags: 1 inbound, 2 outbound, seen from the server.
        option(out, OPTION_EPB_FLAGS, new byte[] {(byte) (m.fromClient() ? 1 : 2), 0, 0, 0});
        if (dropped > 0) {
            ByteBuffer count =
                    ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(dropped);
            option(out, OPTION_EPB_DROPCOUNT, count.array());
        }
        option(out, OPTION_END, new byte[0]);
        end(out, start);
        return contents(out);
    }

    @Override
    public byte[] connection(String socket, long nanos, boolean open) {
        return new byte[0];
    }

    private static int begin(ByteBuffer out, int type) {
        int start = out.position();
        out.putInt(type).putInt(0);
        return start;
    }

    private static void end(ByteBuffer out, int start) {
        int length = out.position() + 4 - start;
        out.putInt(length);
        out.putInt(start + 4, length);
    }

    private static void option(ByteBuffer out, int code, byte[] value) {
        out.putShort((short) code).putShort((short) value.length).put(value);
        pad(out);
    }

    private static void pad(ByteBuffer out) {
        while (out.position() % 4 != 0) {
            out.put((byte) 0);
        }
    }

    private static byte[] contents(ByteBuffer out) {
        byte[] bytes = new byte[out.position()];
        out.get(0, bytes);
        return bytes;
    }
}
