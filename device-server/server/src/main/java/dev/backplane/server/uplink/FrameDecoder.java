// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.uplink.FrameRing;
import dev.backplane.devices.uplink.UplinkPort;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * Takes frames out of a stream of bytes, as QEMU's stream and socket netdevs write them: 32 bits of length in network
 * order, then the frame. The bytes go right into the port's ring, whatever pieces they come in. One for each connection,
 * used by its thread only.
 */
final class FrameDecoder {
    private static final int PREFIX = 4;

    /** What became of some bytes. */
    enum Result {
        /** All are taken. */
        DONE,
        /** There is no room in the ring; the rest waits until there is. */
        NO_ROOM,
        /** A length that no frame has: the peer does not speak this protocol. */
        BAD_LENGTH
    }

    private final UplinkPort port;
    private final FrameRing ring;
    private final ByteBuffer memory;
    private int prefixBytes;
    private int length;
    private long record = FrameRing.NONE;
    private int filled;

    FrameDecoder(UplinkPort port) {
        this.port = port;
        this.ring = port.incoming();
        this.memory = ring.memory().asByteBuffer();
    }

    /** The latest length; for messages. */
    long length() {
        return Integer.toUnsignedLong(length);
    }

    /** Takes bytes from {@code in}, and hands the frames that are complete to the fabric. */
    Result decode(ByteBuf in) {
        boolean frames = false;
        Result result = Result.DONE;
        while (in.isReadable()) {
            if (prefixBytes < PREFIX) {
                length = length << 8 | in.readUnsignedByte();
                if (++prefixBytes < PREFIX) {
                    continue;
                }
                if (length <= 0 || length > FabricConfig.MAX_FRAME) {
                    result = Result.BAD_LENGTH;
                    break;
                }
                filled = 0;
            }
            if (record == FrameRing.NONE && !reserve()) {
                result = Result.NO_ROOM;
                break;
            }
            frames |= fill(in);
        }
        if (frames) {
            hand();
        }
        return result;
    }

    private boolean reserve() {
        record = ring.reserve(length);
        if (record == FrameRing.NONE) {
            hand(); // the room that we wait for may be taken by frames that the fabric has not seen
            if (ring.awaitRoom(length)) {
                return false;
            }
            record = ring.reserve(length);
        }
        return true;
    }

    /** Moves what there is of a frame; returns whether it is complete now. */
    private boolean fill(ByteBuf in) {
        int n = Math.min(in.readableBytes(), length - filled);
        int at = (int) record + FrameRing.HEADER + filled;
        memory.limit(at + n).position(at);
        in.readBytes(memory);
        filled += n;
        if (filled < length) {
            return false;
        }
        ring.commit();
        record = FrameRing.NONE;
        prefixBytes = 0;
        return true;
    }

    private void hand() {
        ring.publish();
        port.received();
    }
}
