// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/** Sizes and counts that the protocol or this implementation bounds. */
public final class Limits {
    /** Most bytes of data in one message: what we offer, and what a peer that offers nothing is taken to accept. */
    public static final int MAX_DATA_XFER_SIZE = 1 << 20;

    /** Largest message: the most data with a header and the longest fixed part in front of data. */
    public static final int MAX_MESSAGE = MAX_DATA_XFER_SIZE + Header.BYTES + RegionMessages.ACCESS.size();

    /** Most descriptors with one message that we offer to take; QEMU accepts no greater offer. */
    public static final int MAX_MSG_FDS = 16;

    /** What a peer that says nothing takes (specification, "Capabilities"). */
    public static final int DEFAULT_MSG_FDS = 1;

    /** Greatest {@code max_msg_fds} that a peer may offer (as libvfio-user). */
    public static final int HIGHEST_MSG_FDS = 1024;

    /** Most DMA windows at a time, unless the peer says otherwise. */
    public static final int DEFAULT_DMA_MAPS = 65_535;

    /** Largest DMA window (as libvfio-user). */
    public static final long MAX_DMA_WINDOW = 8L << 40;

    /** The page size of DMA windows and of the dirty log. */
    public static final int PAGE = 4096;

    /** Longest capabilities text in bytes: many times what any client sends. */
    public static final int MAX_CAPABILITIES = 16 << 10;

    private Limits() {}
}
