// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Makes the blocks of a pcapng capture (draft-ietf-opsawg-pcapng) of vfio-user messages: one interface for each socket,
 * link type {@value #LINKTYPE_USER0}. A packet is the pseudo-header ({@value #PSEUDO_HEADER} bytes: version {@value
 * #VERSION}, direction 0 from the client or 1 from the server, number of file descriptors, 0) and then the message as it was
 * on the socket. The dissector in {@code src/main/wireshark} reads this. Stateless: any thread may call.
 */
final class PcapngWriter {
    /** LINKTYPE_USER0 of tcpdump's list: free for private use. */
    static final int LINKTYPE_USER0 = 147;

    static final int PSEUDO_HEADER = 4;
    static final int VERSION = 1;
    /** Most bytes of a message that are kept: enough for everything but bulk data. */
    static final int SNAP_LENGTH = 4096;

    private static final int SECTION_HEADER = 0x0a0d0d0a;
    private static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;
    private static final int INTERFACE_DESCRIPTION = 1;
    private static final int ENHANCED_PACKET = 6;

    private static final int OPTION_END = 0;
    private static final int OPTION_IF_NAME = 2;
    private static final int OPTION_IF_TSRESOL = 9;
    private static final int OPTION_USER_APPLICATION = 4;
    private static final int OPTION_EPB_FLAGS = 2;

    private PcapngWriter() {}

    /** The head of a file: the section, and interfaces of the given names, numbered from 0 on. */
    static byte[] head(String... interfaces) {
        ByteBuffer out = ByteBuffer.allocate(128 + 128 * interfaces.length).order(ByteOrder.LITTLE_ENDIAN);
        int start = begin(out, SECTION_HEADER);
        out.putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(-1);
        option(out, OPTION_USER_APPLICATION, "backplane".getBytes(StandardCharsets.UTF_8));
        option(out, OPTION_END, new byte[0]);
        end(out, start);
        for (String name : interfaces) {
            start = begin(out, INTERFACE_DESCRIPTION);
            out.putShort((short) LINKTYPE_USER0).putShort((short) 0).putInt(PSEUDO_HEADER + SNAP_LENGTH);
            option(out, OPTION_IF_NAME, name.getBytes(StandardCharsets.UTF_8));
            option(out, OPTION_IF_TSRESOL, new byte[] {9}); // nanoseconds
            option(out, OPTION_END, new byte[0]);
            end(out, start);
        }
        return contents(out);
    }

    /**
     * One message.
     *
     * @param nanos time since 1970 in nanoseconds
     * @param message its first bytes, at most {@link #SNAP_LENGTH}
     * @param messageBytes its whole length
     */
    static byte[] packet(int iface, long nanos, boolean fromServer, int fds, byte[] message, long messageBytes) {
        int captured = Math.min(message.length, SNAP_LENGTH);
        ByteBuffer out = ByteBuffer.allocate(64 + PSEUDO_HEADER + captured).order(ByteOrder.LITTLE_ENDIAN);
        int start = begin(out, ENHANCED_PACKET);
        out.putInt(iface).putInt((int) (nanos >>> 32)).putInt((int) nanos);
        out.putInt(PSEUDO_HEADER + captured).putInt((int) Math.min(PSEUDO_HEADER + messageBytes, Integer.MAX_VALUE));
        out.put((byte) VERSION)
                .put((byte) (fromServer ? 1 : 0))
                .put((byte) Math.min(fds, 255))
                .put((byte) 0);
        out.put(message, 0, captured);
        pad(out);
        // Direction, as bits 0 and 1 of the flags: 1 inbound, 2 outbound, seen from the server.
        option(out, OPTION_EPB_FLAGS, new byte[] {(byte) (fromServer ? 2 : 1), 0, 0, 0});
        option(out, OPTION_END, new byte[0]);
        end(out, start);
        return contents(out);
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
