// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;

/** Payloads of DMA_MAP, DMA_UNMAP, DMA_READ and DMA_WRITE. */
public final class DmaMessages {
    /** {@code struct vfio_user_dma_map}. No reply payload. */
    public static final Struct MAP = Struct.memory("vfio_user_dma_map", "A window that the server may access.")
            .u32("argsz", RW, "Size of this structure.")
            .u32("flags", RW, "Readable, writable, how to access the file.")
            .u64("offset", RW, "Start of the window in the file that comes along, in bytes.")
            .u64("addr", RW, "First guest address.")
            .u64("size", RW, "Bytes.")
            .size(32);

    public static final int MAP_ARGSZ = MAP.offset("argsz");
    public static final int MAP_FLAGS = MAP.offset("flags");
    public static final int MAP_OFFSET = MAP.offset("offset");
    public static final int MAP_ADDRESS = MAP.offset("addr");
    public static final int MAP_SIZE = MAP.offset("size");

    public static final int MAP_READ = 1;
    public static final int MAP_WRITE = 2;

    /** The file is to be mapped (libvfio-user); without this and the next, a file is mapped all the same. */
    public static final int MAP_MMAP = 4;

    /** The file is to be read and written (libvfio-user). */
    public static final int MAP_FILE_IO = 8;

    /** {@code struct vfio_user_dma_unmap}, in request and reply. */
    public static final Struct UNMAP = Struct.memory("vfio_user_dma_unmap", "A window that is to be removed.")
            .u32("argsz", RW, "Most bytes of reply payload.")
            .u32("flags", RW, "All windows, or with the dirty bitmap.")
            .u64("addr", RW, "First guest address.")
            .u64("size", RW, "Bytes.")
            .size(24);

    public static final int UNMAP_ARGSZ = UNMAP.offset("argsz");
    public static final int UNMAP_FLAGS = UNMAP.offset("flags");
    public static final int UNMAP_ADDRESS = UNMAP.offset("addr");
    public static final int UNMAP_SIZE = UNMAP.offset("size");

    /** VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP: a {@link #BITMAP} follows, in the reply with its bits. */
    public static final int UNMAP_GET_DIRTY_BITMAP = 1;

    /** VFIO_DMA_UNMAP_FLAG_ALL: all windows; address and size are 0. */
    public static final int UNMAP_ALL = 2;

    /** {@code struct vfio_user_bitmap}. */
    public static final Struct BITMAP = Struct.memory("vfio_user_bitmap", "A bitmap of pages, before its bits.")
            .u64("pgsize", RW, "Bytes for each bit.")
            .u64("size", RW, "Bytes of bitmap.")
            .size(16);

    public static final int BITMAP_PGSIZE = BITMAP.offset("pgsize");
    public static final int BITMAP_SIZE = BITMAP.offset("size");

    /**
     * {@code struct vfio_user_dma_region_access}: before the data of a DMA_WRITE request and a DMA_READ reply, and all of
     * the other two. QEMU has a count of 32 bits and the data right after it, see {@link #QEMU_DATA}.
     */
    public static final Struct ACCESS = Struct.memory("vfio_user_dma_region_access", "Access by message.")
            .u64("addr", RW, "First guest address.")
            .u64("count", RW, "Bytes to transfer.")
            .size(16);

    public static final int ACCESS_ADDRESS = ACCESS.offset("addr");
    public static final int ACCESS_COUNT = ACCESS.offset("count");

    /** Start of the data as the specification has it. */
    public static final int ACCESS_DATA = ACCESS.size();

    /** Start of the data in messages from and to QEMU, whose count has 32 bits (QEMU hw/vfio-user/protocol.h). */
    public static final int QEMU_DATA = 12;

    private DmaMessages() {}
}
