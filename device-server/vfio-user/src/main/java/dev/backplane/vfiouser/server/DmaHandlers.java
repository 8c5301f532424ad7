// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.MapRefusedException;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.protocol.DmaMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/** DMA_MAP and DMA_UNMAP. */
final class DmaHandlers {
    private static final int UNMAP = DmaMessages.UNMAP.size();

    private DmaHandlers() {}

    static int map(Session s) {
        MessageReader in = s.in();
        int fixed = DmaMessages.MAP.size();
        if (in.bodyBytes() < fixed || Integer.compareUnsigned(in.u32(DmaMessages.MAP_ARGSZ), fixed) < 0) {
            return -Errno.EINVAL;
        }
        int flags = in.u32(DmaMessages.MAP_FLAGS);
        long offset = in.u64(DmaMessages.MAP_OFFSET);
        long address = in.u64(DmaMessages.MAP_ADDRESS);
        long size = in.u64(DmaMessages.MAP_SIZE);
        int access = flags & (DmaMessages.MAP_READ | DmaMessages.MAP_WRITE);
        int how = flags & (DmaMessages.MAP_MMAP | DmaMessages.MAP_FILE_IO);
        if (access == 0
                || flags != (access | how)
                || how == (DmaMessages.MAP_MMAP | DmaMessages.MAP_FILE_IO)
                || (how != 0 && in.fds() == 0)
                || in.fds() > 1
                || size <= 0
                || ((address | offset | size) & (Limits.PAGE - 1)) != 0) {
            return -Errno.EINVAL;
        }
        if (size > Limits.MAX_DMA_WINDOW && Long.compareUnsigned(address + size - 1, address) > 0) {
            return -Errno.ENOSPC;
        }
        boolean writable = (access & DmaMessages.MAP_WRITE) != 0;
        GuestMemory memory = s.device().memory();
        FileMappings.Part part = null;
        if (in.fds() == 1) {
            try (FileDescriptor file = in.takeFd()) {
                part = s.files().map(file.value(), offset, size, writable);
            }
            if (part == null) {
                return -s.files().error();
            }
        }
        try {
            if (part == null) {
                memory.map(address, size, null, writable, () -> {});
            } else {
                memory.map(address, size, part.memory(), writable, part.release());
            }
        } catch (MapRefusedException e) {
            if (part != null) {
                part.release().run();
            }
            return -errno(e);
        }
        s.log().mapped(address, size, writable, part != null);
        return 0;
    }

    static int unmap(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < UNMAP) {
            return -Errno.EINVAL;
        }
        int room = in.u32(DmaMessages.UNMAP_ARGSZ);
        int flags = in.u32(DmaMessages.UNMAP_FLAGS);
        long address = in.u64(DmaMessages.UNMAP_ADDRESS);
        long size = in.u64(DmaMessages.UNMAP_SIZE);
        if (room < UNMAP || room > Limits.MAX_DATA_XFER_SIZE) {
            return -Errno.EINVAL;
        }
        GuestMemory memory = s.device().memory();
        try {
            switch (flags) {
                case 0 -> {
                    memory.unmap(address, size);
                }
                case DmaMessages.UNMAP_ALL -> {
                    if (address != 0 || size != 0) {
                        return -Errno.EINVAL;
                    }
                    memory.unmapAll();
                }
                case DmaMessages.UNMAP_GET_DIRTY_BITMAP -> {
                    return unmapWithDirty(s, room, address, size);
                }
                default -> {
                    return -Errno.EINVAL;
                }
            }
        } catch (MapRefusedException e) {
            return -errno(e);
        }
        echo(s.out().begin(UNMAP), room, flags, address, size);
        return UNMAP;
    }

    /** Removes a window; the reply has its dirty pages, which no access can add to any more. */
    private static int unmapWithDirty(Session s, int room, long address, long size) throws MapRefusedException {
        MessageReader in = s.in();
        int fixed = UNMAP + DmaMessages.BITMAP.size();
        if (in.bodyBytes() < fixed) {
            return -Errno.EINVAL;
        }
        long pageSize = in.u64(UNMAP + DmaMessages.BITMAP_PGSIZE);
        long bitmapBytes = in.u64(UNMAP + DmaMessages.BITMAP_SIZE);
        GuestMemory memory = s.device().memory();
        if (bitmapBytes < 0 || bitmapBytes > room - fixed) {
            return -Errno.EINVAL;
        }
        if (!memory.hasWindow(address, size)) {
            return -Errno.ENOENT;
        }
        if (memory.dirtyLog() == null || bitmapBytes != DirtyReport.bitmapBytes(size, pageSize)) {
            return -Errno.EINVAL;
        }
        memory.unmap(address, size);
        int bytes = fixed + (int) bitmapBytes;
        MemorySegment out = s.out().begin(bytes);
        echo(out, room, DmaMessages.UNMAP_GET_DIRTY_BITMAP, address, size);
        out.set(Wire.U64, Header.BYTES + UNMAP + DmaMessages.BITMAP_PGSIZE, pageSize);
        out.set(Wire.U64, Header.BYTES + UNMAP + DmaMessages.BITMAP_SIZE, bitmapBytes);
        MemorySegment bitmap = out.asSlice(Header.BYTES + fixed, bitmapBytes);
        bitmap.fill((byte) 0);
        memory.dirtyLog().take(address, size, pageSize, bitmap);
        return bytes;
    }

    private static void echo(MemorySegment out, int room, int flags, long address, long size) {
        out.set(Wire.U32, Header.BYTES + DmaMessages.UNMAP_ARGSZ, room);
        out.set(Wire.U32, Header.BYTES + DmaMessages.UNMAP_FLAGS, flags);
        out.set(Wire.U64, Header.BYTES + DmaMessages.UNMAP_ADDRESS, address);
        out.set(Wire.U64, Header.BYTES + DmaMessages.UNMAP_SIZE, size);
    }

    private static int errno(MapRefusedException e) {
        return switch (e.reason()) {
            case BAD_RANGE, TOO_MANY -> Errno.EINVAL;
            case OVERLAP -> Errno.EEXIST;
            case NO_SUCH_WINDOW -> Errno.ENOENT;
        };
    }
}
