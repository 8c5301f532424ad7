// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Anonymous memory files, and shared mappings of files. */
public final class MemoryFile {
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_HUGETLB = 4;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_SEAL = 1;
    private static final int F_SEAL_SHRINK = 2;
    private static final int F_SEAL_GROW = 4;

    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MADV_DONTDUMP = 16;

    private MemoryFile() {}

    /**
     * A new file of zeroes in memory, whose size nobody can change, so that a mapping of it stays good whoever gets the
     * descriptor.
     *
     * @param name shown in {@code /proc/PID/maps}
     */
    public static FileDescriptor create(String name, long bytes) throws NativeException {
        return sealed(file(name, bytes, 0));
    }

    /**
     * As {@link #create}, of huge pages of the machine's default size, which the kernel sets aside for it now.
     *
     * @param bytes a multiple of that size
     * @throws NativeException when there are not so many, or the kernel has none at all
     */
    public static FileDescriptor createHuge(String name, long bytes) throws NativeException {
        return sealed(file(name, bytes, MFD_HUGETLB));
    }

    private static FileDescriptor sealed(FileDescriptor fd) throws NativeException {
        int sealed = Libc.fcntl(fd.value(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
        if (sealed < 0) {
            fd.close();
            throw new NativeException("fcntl(F_ADD_SEALS)", -sealed);
        }
        return fd;
    }

    /** As {@link #create}, but the size can be changed with {@link #resize}: what a guest's memory file may be. */
    public static FileDescriptor resizable(String name, long bytes) throws NativeException {
        return file(name, bytes, 0);
    }

    private static FileDescriptor file(String name, long bytes, int flags) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            FileDescriptor fd = FileDescriptor.own(NativeException.check(
                    "memfd_create",
                    Libc.memfdCreate(arena.allocateFrom(name).address(), MFD_CLOEXEC | MFD_ALLOW_SEALING | flags)));
            try {
                resize(fd, bytes);
                return fd;
            } catch (NativeException e) {
                fd.close();
                throw e;
            }
        }
    }

    /** Changes the size of a file. */
    public static void resize(FileDescriptor fd, long bytes) throws NativeException {
        NativeException.check("ftruncate", Libc.ftruncate(fd.value(), bytes));
    }

    /**
     * Maps a part of a file, shared with all others who map it. The descriptor may be closed afterwards.
     *
     * @param offset a multiple of the page size
     * @param arena unmaps the file when it is closed; a shared one when several threads are to use the segment
     * @return the memory; after the file has been truncated an access to it throws {@link InternalError}
     */
    public static MemorySegment map(int fd, long offset, long bytes, boolean writable, Arena arena)
            throws NativeException {
        return map(fd, offset, bytes, writable, MAP_SHARED | MAP_NORESERVE, arena);
    }

    /**
     * Maps a file of {@link #createHuge}, from its beginning. Its pages are set aside for the mapping: else the first
     * access to a page would kill the process when others have taken the last one.
     */
    public static MemorySegment mapHuge(int fd, long bytes, Arena arena) throws NativeException {
        return map(fd, 0, bytes, true, MAP_SHARED, arena);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment map(int fd, long offset, long bytes, boolean writable, int flags, Arena arena)
            throws NativeException {
        int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        long address = Libc.mmap(bytes, protection, flags, fd, offset);
        if (address < 0 && address > -4096) {
            throw new NativeException("mmap", (int) -address);
        }
        // Keeps the guests' memory out of our core dumps; where the kernel refuses, nothing else changes.
        int _ = Libc.madvise(address, bytes, MADV_DONTDUMP);
        MemorySegment s = MemorySegment.ofAddress(address).reinterpret(bytes, arena, m -> unmap(m.address(), bytes));
        return writable ? s : s.asReadOnly();
    }

    private static void unmap(long address, long bytes) {
        int r = Libc.munmap(address, bytes);
        if (r < 0) {
            throw new AssertionError("munmap failed: " + Errno.name(-r));
        }
    }
}
