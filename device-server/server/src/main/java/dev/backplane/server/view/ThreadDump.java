// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;

/** What every thread does just now, with the processor time it has used. */
final class ThreadDump {
    private static final int MAX_FRAMES = 64;

    private ThreadDump() {}

    static String text() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        StringBuilder out = new StringBuilder(16 * 1024);
        ThreadInfo[] all = threads.dumpAllThreads(true, false, MAX_FRAMES);
        Arrays.sort(all, Comparator.comparing(ThreadInfo::getThreadName));
        for (ThreadInfo t : all) {
            double millis = Math.max(threads.getThreadCpuTime(t.getThreadId()), 0) / 1e6;
            out.append(String.format(
                    Locale.ROOT, "\"%s\" %s, cpu %.1f ms", t.getThreadName(), t.getThreadState(), millis));
            if (t.getLockName() != null) {
                out.append(", waits for ").append(t.getLockName());
            }
            if (t.getLockOwnerName() != null) {
                out.append(" held by \"").append(t.getLockOwnerName()).append('"');
            }
            out.append('\n');
            for (StackTraceElement frame : t.getStackTrace()) {
                out.append("    at ").append(frame).append('\n');
            }
        }
        long[] deadlocked = threads.findDeadlockedThreads();
        if (deadlocked != null) {
            out.append("DEADLOCK of threads ")
                    .append(Arrays.toString(deadlocked))
                    .append('\n');
        }
        return out.toString();
    }
}
