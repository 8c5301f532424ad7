// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.devices.loop.Workers;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Measures the module's own cost of an inline PUT on one thread: eight slots are filled once and submitted over and
 * over, the context's loop is run in place, and the owner's head follows. Time is the thread's CPU time, so that a busy
 * machine matters little. Not a test: {@code main} prints a table.
 */
final class PutRate {
    private static final int BATCHES = 200_000;
    private static final int ROUNDS = 12;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private PutRate() {}

    public static void main(String[] args) {
        for (int size : new int[] {64, 8, 256, 384}) {
            measure(size, ContextPage.SLOTS);
        }
        measure(64, 1);
    }

    private static void measure(int size, int batch) {
        try (Workers workers = new Workers(Workers.Mode.INLINE, 1, 4096);
                MessagingFabric fabric =
                        new MessagingFabric(MessagingConfig.defaults().withSpinMicros(0), workers);
                SimulatedDriver one = new SimulatedDriver(fabric.addNode(Node.of(1)));
                SimulatedDriver two = new SimulatedDriver(fabric.addNode(Node.of(2)))) {
            SimulatedRing ring = two.ring(two.open(0), 0, 1 << 20, 0, 1);
            SimulatedProcess p = one.open(0);
            GetPutContext context = one.module.contexts().context(0);
            for (int i = 0; i < ContextPage.SLOTS; i++) {
                p.put(2, ring.id, 1).inline(new byte[size]).run();
            }
            int submit = ContextPage.SLOTS;
            double best = 0;
            for (int round = 0; round < ROUNDS; round++) {
                long start = THREADS.getCurrentThreadCpuTime();
                for (int i = 0; i < BATCHES; i++) {
                    submit += batch;
                    p.storeQuietly(submit);
                    context.wake();
                    while (p.complete() != submit) {
                        // The poller has the loop for a moment.
                        Thread.onSpinWait();
                    }
                    ring.setHead(ring.tail());
                }
                long nanos = THREADS.getCurrentThreadCpuTime() - start;
                best = Math.max(best, (double) BATCHES * batch / nanos * 1000);
            }
            System.out.printf(
                    "%4d bytes inline, %d in a batch: %.2f million PUT/s, %.0f ns each%n",
                    size, batch, best, 1000 / best);
        }
    }
}
