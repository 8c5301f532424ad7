// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Frames cost no heap: moves, lookups, queues, completions, interrupts and wake-ups. */
@Timeout(60)
class NoAllocationTest {
    private static final int BATCH = 32;
    private static final int ROUNDS = 20_000;

    @Test
    void nothingIsAllocatedPerFrame() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().threadId();
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.nic(2);
            for (int i = 0; i < a.tx.size; i++) {
                a.prepare(Frames.udp(b.mac(), a.mac(), 1000, 2000, 100), 142);
            }
            a.tx.producer = 0;
            long before = 0;
            for (int round = 0; round < 2 * ROUNDS; round++) {
                if (round == ROUNDS) {
                    before = threads.getThreadAllocatedBytes(id); // all is warm by now
                }
                a.tx.producer += BATCH;
                a.tx.publish();
                b.rx.producer += BATCH;
                b.rx.publish();
            }
            long allocated = threads.getThreadAllocatedBytes(id) - before;
            assertTrue(
                    allocated < ROUNDS, // less than a byte for 32 frames: what the virtual machine does now and then
                    () -> allocated + " bytes for " + ROUNDS * BATCH + " frames");
        }
    }
}
