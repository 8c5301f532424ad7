// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * What this process holds on behalf of clients.
 *
 * @param descriptors open files but for those of the class path, which the JVM opens when it likes
 * @param threads threads that serve connections or listen
 * @param mappings mapped memory files
 */
record Footprint(long descriptors, long threads, long mappings) {
    static Footprint take() {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"));
                Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return new Footprint(
                    fds.filter(Footprint::counts).count(),
                    servingThreads(),
                    maps.filter(l -> l.contains("memfd:")).count());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether this is no more than {@code other}. */
    boolean within(Footprint other) {
        return descriptors <= other.descriptors && threads <= other.threads && mappings <= other.mappings;
    }

    private static long servingThreads() {
        Thread[] all = new Thread[2 * Thread.activeCount() + 16];
        int n = Thread.enumerate(all); // of this group, in which all of them are started
        return Arrays.stream(all, 0, n)
                .filter(t -> t.getName().startsWith("vfio-user "))
                .count();
    }

    private static boolean counts(Path fd) {
        try {
            String file = Files.readSymbolicLink(fd).toString();
            return !file.endsWith(".jar") && !file.endsWith("/modules") && !file.startsWith("/proc/");
        } catch (IOException e) {
            return false; // that of the listing itself
        }
    }
}
