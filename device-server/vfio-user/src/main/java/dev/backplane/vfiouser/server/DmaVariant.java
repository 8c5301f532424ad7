// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.DmaMessages;

/**
 * How a client lays out DMA_READ and DMA_WRITE. Both ways have the same sizes, and clients do not say which is theirs: it
 * shows in what they answer.
 */
enum DmaVariant {
    /** Not known yet; such a client may be QEMU. */
    UNKNOWN(DmaMessages.ACCESS_DATA),
    /** As the specification has it: a count of 64 bits, and a reply to a write that repeats address and count. */
    SPECIFICATION(DmaMessages.ACCESS_DATA),
    /** As QEMU has it: a count of 32 bits with the data right after it, and a bare header as the reply to a write. */
    QEMU(DmaMessages.QEMU_DATA);

    private final int dataOffset;

    DmaVariant(int dataOffset) {
        this.dataOffset = dataOffset;
    }

    /** Where the data starts in the payload. */
    int dataOffset() {
        return dataOffset;
    }

    /**
     * What a reply to a DMA_READ of {@code count} bytes shows. Its words at the upper half of the count and at the end are
     * 0 and data in one layout, data and 0 in the other: they tell unless both are 0.
     */
    static DmaVariant ofReadReply(byte[] payload, int count) {
        if (!zero(payload, DmaMessages.QEMU_DATA, DmaMessages.ACCESS_DATA)) {
            return QEMU;
        }
        int end = DmaMessages.ACCESS_DATA + count;
        return zero(payload, Math.max(DmaMessages.ACCESS_DATA, end - 4), end) ? UNKNOWN : SPECIFICATION;
    }

    /** Whether the data is all zero, so that the layout does not matter. */
    static boolean allZero(byte[] payload, int count) {
        return zero(payload, DmaMessages.QEMU_DATA, DmaMessages.ACCESS_DATA + count);
    }

    private static boolean zero(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }
}
