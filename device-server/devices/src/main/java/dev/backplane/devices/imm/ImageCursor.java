// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Writes or reads a saved state from its start on, or only counts its bytes. Little-endian, unaligned. */
final class ImageCursor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final MemorySegment segment;
    private long position;

    private ImageCursor(MemorySegment segment) {
        this.segment = segment;
    }

    static ImageCursor over(MemorySegment segment) {
        return new ImageCursor(segment);
    }

    /** A cursor that writes nowhere. */
    static ImageCursor counting() {
        return new ImageCursor(null);
    }

    long position() {
        return position;
    }

    private long advance(long bytes) {
        long at = position;
        if (segment != null && bytes > segment.byteSize() - at) {
            throw new IllegalArgumentException("saved messaging module: ends after " + segment.byteSize() + " bytes");
        }
        position = at + bytes;
        return at;
    }

    /** Moves on to a multiple of {@code bytes}. */
    void align(long bytes) {
        advance((bytes - position % bytes) % bytes);
    }

    void putInt(int value) {
        long at = advance(4);
        if (segment != null) {
            segment.set(INT, at, value);
        }
    }

    void putLong(long value) {
        long at = advance(8);
        if (segment != null) {
            segment.set(LONG, at, value);
        }
    }

    void putBytes(MemorySegment from) {
        long at = advance(from.byteSize());
        if (segment != null) {
            MemorySegment.copy(from, 0, segment, at, from.byteSize());
        }
    }

    int getInt() {
        return segment.get(INT, advance(4));
    }

    long getLong() {
        return segment.get(LONG, advance(8));
    }

    void getBytes(MemorySegment to) {
        MemorySegment.copy(segment, advance(to.byteSize()), to, 0, to.byteSize());
    }
}
