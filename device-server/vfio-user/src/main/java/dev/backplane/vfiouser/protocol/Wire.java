// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * How numbers lie in messages. The protocol takes the host's byte order; we run on little-endian hosts only. Messages
 * follow each other without padding, so nothing is aligned.
 */
public final class Wire {
    public static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;
    public static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Wire() {}
}
