// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

/** The bytes of a configuration space, as they were read. What lies outside reads as zero. */
final class ConfigSpace {
    /** Size of a PCI Express function's configuration space (PCIe 6.2, 7.2). */
    static final int MOST_BYTES = 4096;

    private final byte[] bytes;

    ConfigSpace(byte[] bytes) {
        this.bytes = bytes;
    }

    int bytes() {
        return bytes.length;
    }

    int u8(int offset) {
        return offset >= 0 && offset < bytes.length ? bytes[offset] & 0xff : 0;
    }

    int u16(int offset) {
        return u8(offset) | (u8(offset + 1) << 8);
    }

    int u32(int offset) {
        return u16(offset) | (u16(offset + 2) << 16);
    }

    long u64(int offset) {
        return (u32(offset) & 0xffff_ffffL) | ((long) u32(offset + 4) << 32);
    }

    boolean isZero(int offset, int count) {
        for (int i = 0; i < count; i++) {
            if (u8(offset + i) != 0) {
                return false;
            }
        }
        return true;
    }
}
