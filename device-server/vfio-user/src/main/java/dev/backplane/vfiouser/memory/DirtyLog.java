// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which pages the device has written since they were last reported (DMA logging). Any thread may mark and take. Memory is
 * taken for what is written only, 2 MiB of guest memory at a time.
 *
 * <p>The race of a write with a report: a writer changes the page and then sets its bit, a report takes the bit and the
 * client copies the page after that. A bit set too late for one report is in the next, and before the last report the
 * device is stopped: so no write is missed.
 */
public final class DirtyLog {
    /** Bytes of a page of the log. */
    public static final int PAGE = 4096;

    private static final int PAGE_BITS = 12;

    /** A chunk is this many pages. */
    private static final int CHUNK_BITS = 9;

    private final Map<Long, AtomicLongArray> chunks = new ConcurrentHashMap<>();

    DirtyLog() {}

    /** Marks the pages of a range that has just been written. */
    void mark(long iova, long bytes) {
        if (bytes <= 0) {
            return;
        }
        long last = (iova + bytes - 1) >>> PAGE_BITS;
        for (long page = iova >>> PAGE_BITS; page <= last; page++) {
            AtomicLongArray chunk =
                    chunks.computeIfAbsent(page >>> CHUNK_BITS, k -> new AtomicLongArray(1 << (CHUNK_BITS - 6)));
            int in = (int) page & ((1 << CHUNK_BITS) - 1);
            long bit = 1L << in;
            if ((chunk.get(in >> 6) & bit) == 0) {
                chunk.getAndUpdate(in >> 6, w -> w | bit);
            }
        }
    }

    /**
     * Takes the marks of a range and reports them.
     *
     * @param iova start of the range
     * @param bytes its size, positive
     * @param pageSize bytes for each bit of the report, a power of two
     * @param bitmap zeroed, with room for a bit for each {@code pageSize} bytes; bit {@code n} is bit {@code n % 8} of
     *     byte {@code n / 8}
     */
    public void take(long iova, long bytes, long pageSize, MemorySegment bitmap) {
        long firstPage = iova >>> PAGE_BITS;
        long lastPage = (iova + bytes - 1) >>> PAGE_BITS;
        long firstChunk = firstPage >>> CHUNK_BITS;
        long lastChunk = lastPage >>> CHUNK_BITS;
        chunks.forEach((key, chunk) -> {
            if (key < firstChunk || key > lastChunk) {
                return;
            }
            for (int w = 0; w < chunk.length(); w++) {
                long base = (key << CHUNK_BITS) + 64L * w;
                long wanted = wanted(base, firstPage, lastPage);
                if (wanted == 0 || (chunk.get(w) & wanted) == 0) {
                    continue;
                }
                long taken = chunk.getAndUpdate(w, v -> v & ~wanted) & wanted;
                while (taken != 0) {
                    long page = base + Long.numberOfTrailingZeros(taken);
                    report(page << PAGE_BITS, iova, bytes, pageSize, bitmap);
                    taken &= taken - 1;
                }
            }
        });
    }

    /** Which of the 64 pages from {@code base} on are in the range. */
    private static long wanted(long base, long first, long last) {
        if (base > last || base + 63 < first) {
            return 0;
        }
        long from = base >= first ? -1L : -1L << (first - base);
        long to = base + 63 <= last ? -1L : -1L >>> (63 - (last - base));
        return from & to;
    }

    private static void report(long page, long iova, long bytes, long pageSize, MemorySegment bitmap) {
        long from = Math.max(0, page - iova);
        long to = Math.min(bytes, page - iova + PAGE);
        for (long bit = from / pageSize; bit <= (to - 1) / pageSize; bit++) {
            long at = bit >>> 3;
            bitmap.set(ValueLayout.JAVA_BYTE, at, (byte) (bitmap.get(ValueLayout.JAVA_BYTE, at) | 1 << (bit & 7)));
        }
    }
}
