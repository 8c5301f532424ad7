// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import java.lang.foreign.MemorySegment;

/**
 * Access to guest memory by messages (vfio-user DMA_READ and DMA_WRITE), for windows without a file. Calls block until
 * the client has answered or the time limit has passed; they do not come from a {@link PromptThread}.
 */
public interface DmaTransport {
    /** Reads {@code bytes} bytes at {@code iova}; throws {@link GuestMemoryFault} when that fails. */
    void read(long iova, MemorySegment to, long offset, long bytes);

    /** Writes {@code bytes} bytes at {@code iova}; throws {@link GuestMemoryFault} when that fails. */
    void write(long iova, MemorySegment from, long offset, long bytes);

    /**
     * Fails the accesses under way, and all that come before {@link #release}: somebody waits for those who make them, and
     * perhaps on the very thread that would receive the client's answer. May be nested.
     */
    default void hold() {}

    /** Ends a {@link #hold}. */
    default void release() {}
}
