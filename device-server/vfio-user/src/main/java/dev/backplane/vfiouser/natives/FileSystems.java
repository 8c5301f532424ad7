// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Whose files can be mapped without risk: an access to a page of a file in user space (FUSE) or on a network waits for
 * whoever serves it, for ever if that one likes, inside an instruction of ours. Nothing here asks the file system itself,
 * since that answer could be withheld too (as {@code fstatfs} of FUSE).
 */
public final class FileSystems {
    private static final int F_GET_SEALS = 1034;

    /** Those of the kernel that have their files on this machine; also a file in memory that is opened by its name. */
    private static final Set<String> LOCAL = Set.of(
            "tmpfs",
            "ramfs",
            "hugetlbfs",
            "devtmpfs",
            "ext2",
            "ext3",
            "ext4",
            "xfs",
            "btrfs",
            "f2fs",
            "bcachefs",
            "zfs",
            "overlay");

    private FileSystems() {}

    /** Whether a file is one in memory: of tmpfs or hugetlbfs, wherever they are mounted, or a memfd. */
    public static boolean isMemory(int fd) {
        return Libc.fcntl(fd, F_GET_SEALS, 0) >= 0; // only those file systems have seals
    }

    /**
     * Whether a file is in memory, or on a file system of this machine that this process sees mounted. Of others, such as
     * those of another mount namespace, nothing can be said, so they are not.
     */
    public static boolean isLocal(int fd) {
        return isMemory(fd) || LOCAL.contains(type(fd));
    }

    private static String type(int fd) {
        try (Stream<String> info = Files.lines(Path.of("/proc/self/fdinfo", Integer.toString(fd)));
                Stream<String> mounts = Files.lines(Path.of("/proc/self/mountinfo"))) {
            String id = info.filter(l -> l.startsWith("mnt_id:"))
                            .findFirst()
                            .orElse("mnt_id:none")
                            .substring("mnt_id:".length())
                            .strip()
                    + " ";
            // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue (proc_pid_mountinfo(5))
            return mounts.filter(l -> l.startsWith(id))
                    .map(l -> l.substring(l.indexOf(" - ") + 3).split(" ", 2)[0])
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }
}
