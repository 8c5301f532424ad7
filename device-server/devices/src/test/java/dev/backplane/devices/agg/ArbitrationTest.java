// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deficit round robin between output ports that all have frames: shares in bytes are as the weights. */
@Timeout(60)
class ArbitrationTest {
    private static final int FRAMES = 240;
    private static final int LARGE = 65_000;

    /** Shares the one worker with the ports; each time it is its turn it notes how far they have come. */
    private static final class Observer extends DrainLoop {
        final CountDownLatch gate = new CountDownLatch(1);
        final CountDownLatch waiting = new CountDownLatch(1);
        final List<long[]> seen = new ArrayList<>();
        private final SimulatedNic[] ports;

        Observer(Workers workers, SimulatedNic... ports) {
            super(workers);
            this.ports = ports;
        }

        @Override
        protected boolean turn() {
            waiting.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
            long[] now = new long[ports.length];
            boolean more = false;
            for (int i = 0; i < ports.length; i++) {
                now[i] = ports[i].count("rx_bytes");
                more |= ports[i].device.port().queuedFrames() != 0;
            }
            seen.add(now);
            return more;
        }
    }

    @Test
    void bytesAreSharedByWeight() {
        FabricConfig config = FabricConfig.defaults().withQuotaBytes(24 << 20);
        try (FabricFixture fabric = new FabricFixture(config, 1)) {
            SimulatedNic a = fabric.add(1, PortConfig.defaults(), 256, 2048).start();
            SimulatedNic light =
                    fabric.add(2, PortConfig.defaults(), 256, 65_536).start(VnicDevice.FEATURES, 0);
            SimulatedNic heavy = fabric.add(3, PortConfig.defaults().withWeight(3), 256, 65_536)
                    .start(VnicDevice.FEATURES, 0);
            for (SimulatedNic to : List.of(light, heavy)) {
                byte[] frame = Frames.udp(to.mac(), a.mac(), 1, 2, LARGE - 42);
                for (int i = 0; i < FRAMES; i++) {
                    int first = a.tx.producer;
                    a.prepare(frame, LARGE);
                    OffloadFrame.describe(
                            a, first, TransmitDescriptor.END_OF_FRAME, TransmitDescriptor.GSO_UDP, 1400, 42, 34, 6);
                }
                a.tx.publish();
                int sent = a.tx.producer;
                fabric.await("all to be queued", () -> a.tx.completed() == sent);
                a.completions();
            }
            Observer observer = new Observer(fabric.workers, light, heavy);
            observer.wake();
            await(observer.waiting);
            light.post(FRAMES);
            heavy.post(FRAMES);
            observer.gate.countDown();
            fabric.await("all to arrive", () -> light.count("rx_frames") + heavy.count("rx_frames") == 2 * FRAMES);
            fabric.await("the observer", observer::idle);
            int both = 0;
            long round = 16 * (128 * 1024 + LARGE); // what a port of weight 1 moves while it has its thread
            for (long[] bytes : observer.seen) {
                if (bytes[0] > 0 && bytes[1] > 0 && bytes[1] < (long) FRAMES * LARGE) {
                    both++;
                    assertTrue(
                            Math.abs(3 * bytes[0] - bytes[1]) <= 3 * round,
                            () -> "bytes moved to weights 1 and 3: " + bytes[0] + ", " + bytes[1]);
                }
            }
            assertTrue(both >= 2, "seen while both had frames: " + both);
            assertEquals(FRAMES, light.count("rx_frames"));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
