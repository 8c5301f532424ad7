// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.uplink.FrameRing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * {@code struct virtio_net_hdr} (linux/virtio_net.h; Virtual I/O Device specification 1.2, 5.1.6), which a TAP interface
 * has before each frame, and the offload fields of a record in a ring, which say the same.
 */
final class VirtioNetHeader {
    static final int BYTES = 10;

    private static final int FLAGS = 0;
    private static final int GSO_TYPE = 1;
    private static final int HDR_LEN = 2;
    private static final int GSO_SIZE = 4;
    private static final int CSUM_START = 6;
    private static final int CSUM_OFFSET = 8;

    private static final int NEEDS_CSUM = 1;
    private static final int DATA_VALID = 2;
    private static final int GSO_TCPV4 = 1;
    private static final int GSO_TCPV6 = 4;
    private static final int GSO_UDP_L4 = 5;
    private static final int GSO_ECN = 0x80;

    private static final int UDP_HEADER = 8;
    private static final int TCP_DATA_OFFSET = 12;

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private VirtioNetHeader() {}

    /** Writes the header for the frame of the record, right before the frame. */
    static void write(FrameRing ring, long record) {
        MemorySegment m = ring.memory();
        long at = record + FrameRing.HEADER - BYTES;
        boolean partial = (ring.flags(record) & Frame.CHECKSUM_PARTIAL) != 0;
        boolean valid = (ring.flags(record) & Frame.CHECKSUM_VALID) != 0;
        m.set(ValueLayout.JAVA_BYTE, at + FLAGS, (byte) (partial ? NEEDS_CSUM : valid ? DATA_VALID : 0));
        m.set(ValueLayout.JAVA_BYTE, at + GSO_TYPE, (byte) type(ring.gsoType(record)));
        m.set(SHORT, at + HDR_LEN, (short) ring.headerLength(record));
        m.set(SHORT, at + GSO_SIZE, (short) ring.gsoSize(record));
        m.set(SHORT, at + CSUM_START, (short) ring.csumStart(record));
        m.set(SHORT, at + CSUM_OFFSET, (short) ring.csumOffset(record));
    }

    private static int type(int gsoType) {
        return switch (gsoType) {
            case Offloads.GSO_TCPV4 -> GSO_TCPV4;
            case Offloads.GSO_TCPV6 -> GSO_TCPV6;
            case Offloads.GSO_UDP -> GSO_UDP_L4;
            default -> 0;
        };
    }

    /**
     * Reads the header of a frame that is {@code length} bytes long at {@code frame}, and describes the record with it.
     *
     * @param header where the header is, in {@code m}
     * @return false when it does not fit the frame
     */
    static boolean read(MemorySegment m, long header, FrameRing ring, long record, long frame, int length) {
        int flags = m.get(ValueLayout.JAVA_BYTE, header + FLAGS);
        int type = m.get(ValueLayout.JAVA_BYTE, header + GSO_TYPE) & 0xff & ~GSO_ECN;
        int start = m.get(SHORT, header + CSUM_START) & 0xffff;
        int offset = m.get(SHORT, header + CSUM_OFFSET) & 0xffff;
        if ((flags & NEEDS_CSUM) == 0) {
            ring.setChecksum(record, (flags & DATA_VALID) != 0 ? Frame.CHECKSUM_VALID : 0, 0, 0);
            return type == 0;
        }
        if (start < 14 || start + offset + 2 > length) {
            return false;
        }
        ring.setChecksum(record, Frame.CHECKSUM_PARTIAL, start, offset);
        if (type == 0) {
            return true;
        }
        int kind = kind(type);
        // The kernel's hdr_len is a hint: the frame says how long its headers are.
        int headers;
        if (kind == Offloads.GSO_UDP) {
            headers = start + UDP_HEADER;
        } else if (start + TCP_DATA_OFFSET < length) {
            headers = start + ((m.get(ValueLayout.JAVA_BYTE, frame + start + TCP_DATA_OFFSET) & 0xf0) >>> 2);
        } else {
            return false;
        }
        ring.setSegmentation(record, kind, m.get(SHORT, header + GSO_SIZE) & 0xffff, headers);
        return kind != Offloads.GSO_NONE && headers < length;
    }

    private static int kind(int type) {
        return switch (type) {
            case GSO_TCPV4 -> Offloads.GSO_TCPV4;
            case GSO_TCPV6 -> Offloads.GSO_TCPV6;
            case GSO_UDP_L4 -> Offloads.GSO_UDP;
            default -> Offloads.GSO_NONE;
        };
    }
}
