// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.backplane.devices.fabric.PortConfig;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Frames cost no heap: moves, lookups, queues, completions, interrupts and wake-ups. */
@Timeout(60)
class NoAllocationTest {
    private static final int BATCH = 32;
    private static final int ROUNDS = 10_000;
    private static final int WINDOWS = 20;

    @Test
    void nothingIsAllocatedPerFrame() {
        measure(VnicDevice.FEATURES, ROUNDS, 142, 0);
    }

    @Test
    void nothingIsAllocatedPerSegmentAndChecksum() {
        measure(0, ROUNDS / 4, 42 + 4 * 100, 100);
    }

    /** Sends frames of {@code bytes} bytes, of segments of {@code size} if that is not 0, to a driver with such features. */
    private static void measure(long features, int rounds, int bytes, int size) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().threadId();
        try (FabricFixture fabric = new FabricFixture()) {
            SimulatedNic a = fabric.nic(1);
            SimulatedNic b = fabric.add(2, PortConfig.defaults(), 256, 2048).start(features, 256);
            int packets = size == 0 ? 1 : (bytes - 42) / size;
            for (int i = 0; i < a.tx.size; i++) {
                a.prepare(Frames.udp(b.mac(), a.mac(), 1000, 2000, bytes - 42), bytes);
                if (size != 0) {
                    OffloadFrame.describe(
                            a, i, TransmitDescriptor.END_OF_FRAME, TransmitDescriptor.GSO_UDP, size, 42, 34, 6);
                }
            }
            a.tx.producer = 0;
            long allocated;
            int windows = 0;
            do { // until all is compiled: the interpreter allocates, and so does what is compiled half
                long before = threads.getThreadAllocatedBytes(id);
                for (int round = 0; round < rounds; round++) {
                    a.tx.producer += BATCH;
                    a.tx.publish();
                    b.rx.producer += packets * BATCH;
                    b.rx.publish();
                }
                allocated = threads.getThreadAllocatedBytes(id) - before;
                windows++;
            } while (allocated >= rounds && windows < WINDOWS);
            assertEquals((long) windows * rounds * BATCH, b.count("rx_frames"));
            assertTrue(
                    allocated < rounds, // less than a byte for 32 frames: what the virtual machine does now and then
                    allocated + " bytes for " + rounds * BATCH + " frames, after " + windows + " times as many");
        }
    }
}
