// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What a descriptor refers to. Device and inode together identify the file: two descriptors with the same pair are the
 * same file.
 *
 * @param device major number in the upper half, minor in the lower
 * @param inode inode number
 * @param bytes size of a regular file
 * @param regular whether it is a regular file, as memory files are
 */
public record FileStatus(long device, long inode, long bytes, boolean regular) {
    // struct statx of linux/stat.h, the same on all architectures.
    private static final int STATX_BYTES = 256;
    private static final int STX_MODE = 28;
    private static final int STX_INO = 32;
    private static final int STX_SIZE = 40;
    private static final int STX_DEV_MAJOR = 136;
    private static final int STX_DEV_MINOR = 140;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int AT_STATX_DONT_SYNC = 0x4000;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFREG = 0x8000;

    /** Looks at an open descriptor, without asking whoever serves a file that is not of this machine. */
    public static FileStatus of(int fd) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom("");
            MemorySegment s = arena.allocate(STATX_BYTES, 8);
            NativeException.check(
                    "statx",
                    Libc.statx(fd, path.address(), AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, s.address()));
            long device = (long) s.get(JAVA_INT, STX_DEV_MAJOR) << 32 | (s.get(JAVA_INT, STX_DEV_MINOR) & 0xffff_ffffL);
            boolean regular = (s.get(JAVA_SHORT, STX_MODE) & S_IFMT) == S_IFREG;
            return new FileStatus(device, s.get(JAVA_LONG, STX_INO), s.get(JAVA_LONG, STX_SIZE), regular);
        }
    }
}
