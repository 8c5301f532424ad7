// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.MacAddress;
import java.nio.ByteBuffer;
import java.util.Random;

/** A frame for offload, as a guest's stack hands it to its driver, and what the driver says about it. */
@SuppressWarnings("ArrayRecordComponent")
record OffloadFrame(byte[] data, int gsoType, int gsoSize, int headers, int csumStart, int csumOffset) {

    /** A TCP frame with random contents, flags and options. */
    static OffloadFrame tcp(MacAddress to, MacAddress from, boolean v6, int payload, int size, Random random) {
        int options = 4 * random.nextInt(11);
        ByteBuffer b = ip(to, from, v6, 6, 20 + options, payload, random);
        int transport = b.position();
        b.putInt(random.nextInt()).putInt(random.nextInt()).putInt(random.nextInt());
        b.put((byte) ((5 + options / 4) << 4)).put((byte) random.nextInt(256)).putShort((short) 512);
        b.putInt(0);
        int type = v6 ? TransmitDescriptor.GSO_TCPV6 : TransmitDescriptor.GSO_TCPV4;
        return of(filled(b, random), type, size, transport + 20 + options, transport, 16);
    }

    /** A UDP frame with random contents. */
    static OffloadFrame udp(MacAddress to, MacAddress from, boolean v6, int payload, int size, Random random) {
        ByteBuffer b = ip(to, from, v6, 17, 8, payload, random);
        int transport = b.position();
        b.putInt(random.nextInt()).putShort((short) (8 + payload)).putShort((short) 0);
        return of(filled(b, random), TransmitDescriptor.GSO_UDP, size, transport + 8, transport, 6);
    }

    /** The same data as one packet, of which only the checksum is partial. */
    OffloadFrame asOnePacket() {
        return new OffloadFrame(data, TransmitDescriptor.GSO_NONE, 0, 0, csumStart, csumOffset);
    }

    private static OffloadFrame of(byte[] data, int type, int size, int headers, int start, int offset) {
        ByteBuffer.wrap(data).putShort(start + offset, (short) SegmentReference.pseudo(data));
        return new OffloadFrame(data, type, size, headers, start, offset);
    }

    private static ByteBuffer ip(
            MacAddress to, MacAddress from, boolean v6, int protocol, int header, int payload, Random random) {
        int options = v6 ? 0 : 4 * random.nextInt(11);
        ByteBuffer b = ByteBuffer.allocate(14 + (v6 ? 40 : 20 + options) + header + payload);
        Frames.mac(b, to);
        Frames.mac(b, from);
        if (v6) {
            b.putShort((short) 0x86dd).putInt(0x6000_0000).putShort((short) (header + payload));
            b.put((byte) protocol).put((byte) 64);
            for (int i = 0; i < 4; i++) {
                b.putLong(random.nextLong());
            }
        } else {
            b.putShort((short) 0x0800).put((byte) (0x45 + options / 4)).put((byte) random.nextInt(256));
            b.putShort((short) (20 + options + header + payload));
            b.putShort((short) random.nextInt())
                    .putShort((short) 0x4000)
                    .put((byte) 64)
                    .put((byte) protocol);
            b.putShort((short) 0).putInt(random.nextInt()).putInt(random.nextInt());
            b.position(b.position() + options);
        }
        return b;
    }

    /** All of the buffer, with random bytes after its position. */
    private static byte[] filled(ByteBuffer b, Random random) {
        byte[] all = new byte[b.capacity()];
        random.nextBytes(all);
        b.get(0, all, 0, b.position());
        return all;
    }

    /** Puts the frame into a sender's ring, in two buffers, and rings. */
    void send(SimulatedNic nic) {
        int first = nic.tx.producer;
        int half = Math.max(1, data.length / 2);
        nic.prepare(data, half, data.length - half);
        describe(nic, first, 0, gsoType, gsoSize, headers, csumStart, csumOffset);
        nic.tx.publish();
    }

    /** Puts offload fields into a descriptor of a sender's ring. */
    static void describe(
            SimulatedNic nic, int index, int flags, int type, int size, int headers, int csumStart, int csumOffset) {
        long at = nic.tx.descriptor(index);
        nic.guest.setShort(at + TransmitDescriptor.FLAGS, flags | TransmitDescriptor.CHECKSUM);
        nic.guest.setShort(at + TransmitDescriptor.CSUM_START, csumStart);
        nic.guest.setShort(at + TransmitDescriptor.CSUM_OFFSET, csumOffset);
        nic.guest.setShort(at + TransmitDescriptor.GSO_TYPE, type);
        nic.guest.setShort(at + TransmitDescriptor.GSO_SIZE, size);
        nic.guest.setShort(at + TransmitDescriptor.HEADER_LENGTH, headers);
    }
}
