// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * The time slice that the calling thread asks the kernel's scheduler for. A server's threads run for microseconds, while
 * the guests' processors may spin for as long as they get: since Linux 6.12 a thread with a short slice that wakes up
 * takes the processor from one with a long slice at once, instead of after that one's slice (EEVDF, PREEMPT_SHORT). It
 * changes when a thread runs, not how much it gets, and needs no privilege.
 */
public final class SchedulingSlice {
    // Numbers of the system calls on x86-64, for which the C library has no functions before glibc 2.41.
    private static final long SCHED_SETATTR = 314;
    private static final long SCHED_GETATTR = 315;

    /** Size of struct sched_attr in its first version, and the offset of its sched_runtime (linux/sched/types.h). */
    private static final int ATTR_BYTES = 48;

    private static final int ATTR_RUNTIME = 24;

    private SchedulingSlice() {}

    /**
     * Asks for slices of that length, for the calling thread and the threads that it starts later.
     *
     * @param nanos 100,000 to 100,000,000 (the kernel's limits)
     * @return whether the kernel has taken it
     */
    public static boolean request(long nanos) {
        if (!System.getProperty("os.arch").equals("amd64")) {
            return false;
        }
        try (NativeBuffer attr = NativeBuffer.allocate(ATTR_BYTES)) {
            if (Libc.syscall(SCHED_GETATTR, 0, attr.address(), ATTR_BYTES, 0) < 0) {
                return false;
            }
            MemorySegment a = attr.segment();
            a.set(JAVA_INT_UNALIGNED, 0, ATTR_BYTES);
            a.set(JAVA_LONG_UNALIGNED, ATTR_RUNTIME, nanos);
            return Libc.syscall(SCHED_SETATTR, 0, attr.address(), 0, 0) == 0;
        }
    }
}
