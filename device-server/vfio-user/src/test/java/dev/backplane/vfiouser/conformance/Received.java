// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * A message from the server, as it came.
 *
 * @param bytes header and payload
 * @param fds descriptors that came with the header; the test closes them or leaves that to the peer's end
 */
public record Received(byte[] bytes, int[] fds) {
    public int id() {
        return (int) at(0, 2);
    }

    public int command() {
        return (int) at(2, 2);
    }

    public long size() {
        return at(4, 4);
    }

    public int flags() {
        return (int) at(8, 4);
    }

    public int error() {
        return (int) at(12, 4);
    }

    public boolean isReply() {
        return (flags() & 0xf) == Wire.REPLY;
    }

    public byte[] payload() {
        return Arrays.copyOfRange(bytes, Wire.HEADER, bytes.length);
    }

    /** Unsigned 32 bits at {@code offset} of the payload. */
    public long u32(int offset) {
        return at(Wire.HEADER + offset, 4);
    }

    /** 64 bits at {@code offset} of the payload. */
    public long u64(int offset) {
        return at(Wire.HEADER + offset, 8);
    }

    public int u16(int offset) {
        return (int) at(Wire.HEADER + offset, 2);
    }

    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    private long at(int offset, int width) {
        if (offset + width > bytes.length) {
            throw new AssertionError("message of " + bytes.length + " bytes has no field at " + offset + ": " + hex());
        }
        long v = 0;
        for (int i = 0; i < width; i++) {
            v |= (bytes[offset + i] & 0xffL) << 8 * i;
        }
        return v;
    }
}
