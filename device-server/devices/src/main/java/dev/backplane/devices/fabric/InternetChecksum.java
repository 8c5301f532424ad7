// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The checksum of IP, TCP and UDP (RFC 1071): sums are of 16-bit words in network order, folded to 16 bits, and not
 * complemented unless a method says so.
 */
final class InternetChecksum {
    private static final ValueLayout.OfLong LE64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long LOW = 0xffff_ffffL;

    private InternetChecksum() {}

    /** Sum over {@code bytes} bytes; an odd one at the end counts as if a zero followed. */
    static int sum(MemorySegment m, long at, int bytes) {
        // The sum does not depend on the order of bytes but for one exchange at the end (RFC 1071, 2 B).
        long sum = 0;
        int i = 0;
        for (; i + 8 <= bytes; i += 8) {
            long word = m.get(LE64, at + i);
            sum += (word & LOW) + (word >>> 32);
        }
        for (; i < bytes; i++) {
            sum += (m.get(ValueLayout.JAVA_BYTE, at + i) & 0xffL) << ((i & 1) * 8);
        }
        return swap(fold(sum));
    }

    /** The same sum as if the bytes had begun at an odd offset. */
    static int swap(int sum) {
        return Short.reverseBytes((short) sum) & 0xffff;
    }

    /** Adds carries until 16 bits are left. */
    static int fold(long sum) {
        long s = (sum & LOW) + (sum >>> 32);
        s = (s & 0xffff) + (s >>> 16);
        s = (s & 0xffff) + (s >>> 16);
        return (int) ((s & 0xffff) + (s >>> 16));
    }

    /** The checksum field's value for a sum: never 0, which in UDP means that there is none (RFC 768). */
    static short field(long sum) {
        int checksum = ~fold(sum) & 0xffff;
        return (short) (checksum == 0 ? 0xffff : checksum);
    }
}
