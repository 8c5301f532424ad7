// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import java.util.Arrays;

/**
 * The windows in order of address: immutable, so that data paths look up without a lock while the client maps and
 * unmaps. Two levels of sorted arrays keep a lookup at O(log n) and the copy for a change at about the square root of
 * the maximum of 65,535 windows.
 */
final class WindowTable {
    static final WindowTable EMPTY = new WindowTable(new Window[0][], 0);

    private static final int CHUNK = 256;

    private final Window[][] chunks;
    /** The window that was found last; a window of this table, or null. */
    private Window latest;

    private final int size;

    private WindowTable(Window[][] chunks, int size) {
        this.chunks = chunks;
        this.size = size;
    }

    int size() {
        return size;
    }

    /** The window that contains {@code iova}, or null. */
    Window find(long iova) {
        // Most accesses are to the window of the one before. Any thread may replace it: windows are immutable.
        Window hint = latest;
        if (hint != null && Long.compareUnsigned(iova - hint.start(), hint.bytes()) < 0) {
            return hint;
        }
        Window w = floor(iova);
        if (w == null || Long.compareUnsigned(iova - w.start(), w.bytes()) >= 0) {
            return null;
        }
        latest = w;
        return w;
    }

    /** Whether any window has an address in common with the range, which must not wrap. */
    boolean overlaps(long start, long bytes) {
        Window w = floor(start + bytes - 1);
        return w != null && Long.compareUnsigned(w.last(), start) >= 0;
    }

    /** This table with one window more, which overlaps none. */
    WindowTable with(Window window) {
        if (size == 0) {
            return new WindowTable(new Window[][] {{window}}, 1);
        }
        int c = Math.max(0, chunkOf(window.start()));
        Window[] chunk = chunks[c];
        int at = insertionPoint(chunk, window.start());
        Window[] grown = new Window[chunk.length + 1];
        System.arraycopy(chunk, 0, grown, 0, at);
        grown[at] = window;
        System.arraycopy(chunk, at, grown, at + 1, chunk.length - at);
        if (grown.length <= CHUNK) {
            return new WindowTable(replace(c, grown), size + 1);
        }
        int half = grown.length / 2;
        return new WindowTable(
                replace(c, Arrays.copyOf(grown, half), Arrays.copyOfRange(grown, half, grown.length)), size + 1);
    }

    /** This table without {@code window}, which is in it. */
    WindowTable without(Window window) {
        int c = chunkOf(window.start());
        Window[] chunk = chunks[c];
        int at = insertionPoint(chunk, window.start()) - 1;
        if (chunk.length == 1) {
            return new WindowTable(replace(c), size - 1);
        }
        Window[] less = new Window[chunk.length - 1];
        System.arraycopy(chunk, 0, less, 0, at);
        System.arraycopy(chunk, at + 1, less, at, less.length - at);
        return new WindowTable(replace(c, less), size - 1);
    }

    /** All windows in order of address. */
    Window[] toArray() {
        Window[] all = new Window[size];
        int n = 0;
        for (Window[] chunk : chunks) {
            System.arraycopy(chunk, 0, all, n, chunk.length);
            n += chunk.length;
        }
        return all;
    }

    /** The window with the greatest start that is not above {@code iova}, or null. */
    private Window floor(long iova) {
        int c = chunkOf(iova);
        if (c < 0) {
            return null;
        }
        return chunks[c][insertionPoint(chunks[c], iova) - 1];
    }

    /** Index of the last chunk that starts at or below {@code iova}, or -1. */
    private int chunkOf(long iova) {
        int low = 0;
        int high = chunks.length;
        while (low < high) {
            int mid = (low + high) >>> 1;
            if (Long.compareUnsigned(chunks[mid][0].start(), iova) <= 0) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low - 1;
    }

    /** Number of windows of the chunk that start at or below {@code iova}. */
    private static int insertionPoint(Window[] chunk, long iova) {
        int low = 0;
        int high = chunk.length;
        while (low < high) {
            int mid = (low + high) >>> 1;
            if (Long.compareUnsigned(chunk[mid].start(), iova) <= 0) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        return low;
    }

    private Window[][] replace(int chunk, Window[]... by) {
        Window[][] copy = new Window[chunks.length - 1 + by.length][];
        System.arraycopy(chunks, 0, copy, 0, chunk);
        System.arraycopy(by, 0, copy, chunk, by.length);
        System.arraycopy(chunks, chunk + 1, copy, chunk + by.length, chunks.length - chunk - 1);
        return copy;
    }
}
