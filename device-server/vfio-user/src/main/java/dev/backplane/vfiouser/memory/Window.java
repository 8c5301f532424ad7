// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import java.lang.foreign.MemorySegment;

/**
 * A DMA range that the client mapped (vfio-user DMA_MAP). Immutable.
 *
 * @param start first guest (IO virtual) address, unsigned
 * @param bytes size, positive
 * @param segment the memory, of that size, or null when the client gave no file
 * @param writable whether the device may write
 * @param release called once after unmapping, when nothing can touch the memory any more
 */
record Window(long start, long bytes, MemorySegment segment, boolean writable, Runnable release) {
    /** Last address, inclusive, so that a window may end at the top of the address space. */
    long last() {
        return start + bytes - 1;
    }

    /** The segment to access the memory through, if there is a file; at {@link #place}, which the caller has checked. */
    MemorySegment view() {
        return RawAccess.view(segment);
    }

    /** Where an address that is in the window is in its {@link #view}. */
    long place(long iova) {
        return RawAccess.base(segment) + (iova - start);
    }
}
