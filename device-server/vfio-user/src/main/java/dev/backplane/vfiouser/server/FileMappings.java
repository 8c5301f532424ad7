// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileStatus;
import dev.backplane.vfiouser.natives.FileSystems;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The files behind one client's windows, each mapped once and whole however many windows there are on it, without
 * keeping its descriptor: 65,535 windows on one file cost one mapping and no open file. A file is unmapped when its last
 * window has gone. Confined to the client's thread.
 */
final class FileMappings {
    /** Most mappings for one client. The kernel has about 65,000 for the whole process (vm.max_map_count). */
    static final int MAX_MAPPINGS = 4096;

    /** Most address space for one client, so that none takes what the others need: 1/32 of what a process has. */
    static final long MAX_BYTES = 4L << 40;

    private final Counter refused;
    private final Map<Key, List<Mapping>> mappings = new HashMap<>();
    private int count;
    private long bytes;

    private record Key(long device, long inode, boolean writable) {}

    /** A part of a file, and what to do when it is not used any more. */
    record Part(MemorySegment memory, Runnable release) {}

    private static final class Mapping {
        final Key key;
        final Arena arena;
        final MemorySegment memory;
        final long offset;
        int uses;

        Mapping(Key key, Arena arena, MemorySegment memory, long offset) {
            this.key = key;
            this.arena = arena;
            this.memory = memory;
            this.offset = offset;
        }

        boolean contains(long from, long size) {
            return from >= offset && from - offset <= memory.byteSize() - size;
        }
    }

    /** @param refused counts what is no regular file, or one that may keep whoever accesses it waiting */
    FileMappings(Counter refused) {
        this.refused = refused;
    }

    /**
     * Maps a part of a file.
     *
     * @param fd the file, which stays the caller's and may be closed afterwards
     * @return the part, or null after an error, of which {@link #error} has the number
     */
    Part map(int fd, long offset, long size, boolean writable) {
        try {
            FileStatus status = FileStatus.of(fd);
            if (!status.regular()) {
                refused.increment();
                error = Errno.EINVAL;
                return null;
            }
            if (offset < 0 || size > status.bytes() || offset > status.bytes() - size) {
                error = Errno.EINVAL;
                return null;
            }
            Key key = new Key(status.device(), status.inode(), writable);
            List<Mapping> same = mappings.computeIfAbsent(key, k -> new ArrayList<>(1));
            Mapping mapping = find(same, offset, size);
            if (mapping == null && !FileSystems.isLocal(fd)) {
                refused.increment();
                error = Errno.EINVAL;
                forget(key, same);
                return null;
            }
            if (mapping == null) {
                mapping = create(key, fd, status.bytes(), offset, size);
                if (mapping == null) {
                    forget(key, same);
                    return null;
                }
                same.add(mapping);
            }
            mapping.uses++;
            Mapping used = mapping;
            return new Part(mapping.memory.asSlice(offset - mapping.offset, size), () -> release(used));
        } catch (NativeException e) {
            error = e.errno();
            return null;
        }
    }

    private int error;

    /** The positive error number of the last {@link #map} that returned null. */
    int error() {
        return error;
    }

    int count() {
        return count;
    }

    private static Mapping find(List<Mapping> same, long offset, long size) {
        for (Mapping m : same) {
            if (m.contains(offset, size)) {
                return m;
            }
        }
        return null;
    }

    /** Maps the whole file, or if it is too large only what is needed of it. */
    private Mapping create(Key key, int fd, long fileBytes, long offset, long size) {
        if (count >= MAX_MAPPINGS || size > MAX_BYTES - bytes) {
            error = Errno.ENOSPC;
            return null;
        }
        boolean whole = fileBytes <= MAX_BYTES / 16 && fileBytes <= MAX_BYTES - bytes;
        long from = whole ? 0 : offset;
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = MemoryFile.map(fd, from, whole ? fileBytes : size, key.writable, arena);
            count++;
            bytes += memory.byteSize();
            return new Mapping(key, arena, memory, from);
        } catch (NativeException e) {
            arena.close();
            error = e.errno();
            return null;
        }
    }

    private void release(Mapping mapping) {
        if (--mapping.uses > 0) {
            return;
        }
        List<Mapping> same = mappings.get(mapping.key);
        same.remove(mapping);
        forget(mapping.key, same);
        count--;
        bytes -= mapping.memory.byteSize();
        mapping.arena.close();
    }

    private void forget(Key key, List<Mapping> same) {
        if (same.isEmpty()) {
            mappings.remove(key);
        }
    }
}
