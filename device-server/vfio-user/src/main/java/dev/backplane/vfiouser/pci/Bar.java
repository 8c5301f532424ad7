// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import java.util.List;

/**
 * A 64-bit memory BAR of a function.
 *
 * @param index 0, 2 or 4: a 64-bit BAR takes two of the six registers (PCIe 6.2, 7.5.1.2.1)
 * @param bytes size, a power of two of at least 4096
 * @param prefetchable whether reads have no side effects and writes may be merged
 * @param mapped page-aligned areas that a client may map into the guest; accesses there never reach the device
 */
public record Bar(int index, long bytes, boolean prefetchable, List<Area> mapped) {
    /** Smallest BAR, and alignment of a mapped area, in bytes. */
    public static final int PAGE = 4096;

    /**
     * A part of a BAR.
     *
     * @param offset bytes from the BAR's start
     * @param bytes size in bytes
     */
    public record Area(long offset, long bytes) {}

    public Bar {
        if (index != 0 && index != 2 && index != 4) {
            throw new IllegalArgumentException("a 64-bit BAR has index 0, 2 or 4, not " + index);
        }
        if (bytes < PAGE || Long.bitCount(bytes) != 1) {
            throw new IllegalArgumentException("a BAR's size is a power of two from 4096 on, not " + bytes);
        }
        mapped = List.copyOf(mapped);
        for (Area a : mapped) {
            if (a.offset < 0
                    || a.bytes <= 0
                    || a.offset % PAGE != 0
                    || a.bytes % PAGE != 0
                    || a.offset > bytes - a.bytes) {
                throw new IllegalArgumentException("mapped area " + a + " does not fit a BAR of " + bytes + " bytes");
            }
        }
    }

    /** A BAR of registers: every access reaches the device. */
    public static Bar registers(int index, long bytes) {
        return new Bar(index, bytes, false, List.of());
    }

    /** A BAR of memory, all of it mappable. */
    public static Bar memory(int index, long bytes) {
        return new Bar(index, bytes, true, List.of(new Area(0, bytes)));
    }
}
