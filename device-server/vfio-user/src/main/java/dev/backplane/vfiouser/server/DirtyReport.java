// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.Limits;

/** Sizes of dirty bitmaps, which are sequences of 64-bit words. */
final class DirtyReport {
    private DirtyReport() {}

    /**
     * Bytes of the bitmap for a range, or -1 when the range or the page size makes no sense, the page is larger than the
     * range (as libvfio-user), or the bitmap is larger than a message.
     */
    static long bitmapBytes(long length, long pageSize) {
        if (length <= 0 || pageSize <= 0 || Long.bitCount(pageSize) != 1 || pageSize > length) {
            return -1;
        }
        long bits = (length - 1) / pageSize + 1;
        long words = (bits - 1) / 64 + 1;
        return words > Limits.MAX_DATA_XFER_SIZE / 8 ? -1 : words * 8;
    }
}
