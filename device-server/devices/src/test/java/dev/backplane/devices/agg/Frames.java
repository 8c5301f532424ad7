// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.MacAddress;
import java.nio.ByteBuffer;
import java.util.Random;

/** Frames for tests. */
final class Frames {
    /** EtherType for local experiments (IEEE 802). */
    static final int EXPERIMENT = 0x88b5;

    private Frames() {}

    /** A frame of {@code bytes} bytes with contents that follow from {@code seed}. */
    static byte[] frame(MacAddress to, MacAddress from, int bytes, long seed) {
        byte[] frame = new byte[bytes];
        new Random(seed).nextBytes(frame);
        ByteBuffer b = ByteBuffer.wrap(frame);
        mac(b, to);
        mac(b, from);
        b.putShort((short) EXPERIMENT);
        return frame;
    }

    /** A UDP datagram over IPv4 whose ports are these; the checksums are zero. */
    static byte[] udp(MacAddress to, MacAddress from, int sourcePort, int destinationPort, int payload) {
        ByteBuffer b = ByteBuffer.allocate(14 + 20 + 8 + payload);
        mac(b, to);
        mac(b, from);
        b.putShort((short) 0x0800);
        b.put((byte) 0x45).put((byte) 0).putShort((short) (28 + payload)).putInt(0x4000);
        b.put((byte) 64).put((byte) 17).putShort((short) 0);
        b.putInt(0x0a4d0001).putInt(0x0a4d0002);
        b.putShort((short) sourcePort).putShort((short) destinationPort).putShort((short) (8 + payload));
        return b.array();
    }

    static void mac(ByteBuffer b, MacAddress mac) {
        for (int i = 0; i < 6; i++) {
            b.put((byte) mac.octet(i));
        }
    }
}
