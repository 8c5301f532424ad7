// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import java.util.Arrays;
import java.util.HexFormat;

/** A message from the server, as it came. */
public final class Received {
    private final byte[] bytes;
    private final int[] fds;

    Received(byte[] bytes, int[] fds) {
        this.bytes = bytes;
        this.fds = fds;
    }

    /** Header and payload. */
    public byte[] bytes() {
        return bytes;
    }

    /** Descriptors that came with the header. The peer closes them at its end. */
    public int[] fds() {
        return fds;
    }

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
            v |= (bytes[offset + i] & 0xffL) << (8 * i);
        }
        return v;
    }
}
