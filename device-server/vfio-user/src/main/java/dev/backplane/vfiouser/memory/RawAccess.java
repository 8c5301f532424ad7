// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import java.lang.foreign.MemorySegment;

/**
 * Access to native memory whose range, life and alignment the caller has established already, without doing it a second
 * time. A {@link MemorySegment} checks at each access its kind, its life, its owner and its bounds: a frame takes some
 * fifty accesses, and they came to a quarter of its cost. {@link #view} gives the segment to access through, and {@link
 * #base} the place of the range in it.
 *
 * <p>Where assertions are enabled, as in tests, the view is the segment itself, and all is checked; the same code runs
 * in both. Else it is all of memory. So a caller has to have
 *
 * <ul>
 *   <li>checked each offset against the range, if anything in it comes from a guest or client ({@link GuestRange}, {@link
 *       GuestMemory}), or computed it from numbers that only the server writes (rendezvous memory);
 *   <li>a reason why the memory cannot be unmapped meanwhile ({@link GuestMemory#enter}).
 * </ul>
 *
 * <p>Access to a page that a truncated file does not have any more ends in an {@link InternalError} either way.
 */
public final class RawAccess {
    private static final boolean CHECKED = RawAccess.class.desiredAssertionStatus();

    @SuppressWarnings("restricted") // in the one place for it
    private static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private RawAccess() {}

    /** The segment through which the native memory of {@code segment} is accessed, from {@link #base} on. */
    public static MemorySegment view(MemorySegment segment) {
        return CHECKED ? segment : EVERYTHING;
    }

    /** Offset of the first byte of {@code segment} in its {@link #view}. */
    public static long base(MemorySegment segment) {
        return CHECKED ? 0 : segment.address();
    }
}
