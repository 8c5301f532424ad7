// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.Hostile;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A hostile client beside two well-behaved ones, each with a device of its own in the same process: every answer that the
 * good ones get is right, and when all have gone, descriptors, threads, mappings and memory are what they were.
 *
 * <p>{@code -Dchaos.seconds=600} for minutes instead of {@value #MESSAGES} messages; {@code -Dchaos.seed=N} to repeat.
 */
final class ChaosTest {
    private static final int MESSAGES = 10_000;
    private static final int SECONDS = Integer.getInteger("chaos.seconds", 0);
    private static final long SEED = Long.getLong("chaos.seed", System.nanoTime());

    /** Heap that may have come to stay: classes, compiled code's metadata, pooled buffers. */
    private static final long HEAP_SLACK = 16 << 20;

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void onlyTheHostileClientIsHurt() throws Exception {
        round(1000, 1); // classes loaded, pools filled
        Footprint before = Footprint.take();
        round(SECONDS > 0 ? Integer.MAX_VALUE : MESSAGES, SEED);
        Footprint after = Footprint.takeOnce(before);
        assertEquals(before.descriptors, after.descriptors, "open descriptors");
        assertEquals(before.threads, after.threads, "threads");
        assertEquals(before.mappings, after.mappings, "mapped files");
        assertTrue(after.heap < before.heap + HEAP_SLACK, "heap: " + before.heap + " before, " + after.heap + " after");
    }

    private static void round(int messages, long seed) throws Exception {
        try (ScratchSystem target = new ScratchSystem();
                ScratchSystem one = new ScratchSystem();
                ScratchSystem two = new ScratchSystem()) {
            AtomicBoolean stop = new AtomicBoolean();
            FutureTask<Long> first = start("well-behaved 1", one.socket(), seed + 1, stop);
            FutureTask<Long> second = start("well-behaved 2", two.socket(), seed + 2, stop);
            Hostile hostile = new Hostile(target.socket(), seed);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS == 0 ? 3600 : SECONDS);
            try {
                while (hostile.messages() < messages
                        && System.nanoTime() < end
                        && !first.isDone()
                        && !second.isDone()) {
                    hostile.step();
                }
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "seed " + seed + ", message " + hostile.messages() + "\n" + target.report(), e);
            } finally {
                stop.set(true);
                hostile.close();
            }
            System.out.println("chaos: seed " + seed + ", " + hostile.messages() + " hostile messages over "
                    + hostile.connections() + " connections; " + first.get() + " and " + second.get()
                    + " rounds of the others, all right");
        }
    }

    private static FutureTask<Long> start(String name, Path socket, long seed, AtomicBoolean stop) {
        FutureTask<Long> task = new FutureTask<>(() -> WellBehaved.run(socket, seed, stop));
        Thread.ofPlatform().name(name).start(task);
        return task;
    }

    /** What the process holds. */
    private record Footprint(int descriptors, int threads, long mappings, long heap) {
        static Footprint take() throws IOException {
            System.gc();
            return new Footprint(
                    Fds.count(),
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    countMappings(),
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }

        /** Waits until no more is held than {@code before}, or for so long that it never will. */
        static Footprint takeOnce(Footprint before) throws IOException, InterruptedException {
            Footprint now = take();
            for (int i = 0; i < 200 && !now.within(before); i++) {
                Thread.sleep(10);
                now = take();
            }
            return now;
        }

        private boolean within(Footprint f) {
            return descriptors <= f.descriptors && threads <= f.threads && mappings <= f.mappings;
        }

        private static long countMappings() throws IOException {
            try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
                return lines.filter(l -> l.contains("memfd:")).count();
            }
        }
    }
}
