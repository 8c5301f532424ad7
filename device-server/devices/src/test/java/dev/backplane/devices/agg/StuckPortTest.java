// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.PortState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Promise 8: a receiver that does not drain holds its quota at most, hurts nobody else, and recovers. */
@Timeout(60)
class StuckPortTest {
    private final FabricFixture fabric = new FabricFixture(
            FabricConfig.defaults().withRendezvousBytes(8 << 20).withStuckMillis(50));

    @AfterEach
    void close() {
        fabric.close();
    }

    @Test
    void beyondItsQuotaFramesForAStuckPortAreDroppedAndCountedUntilItDrainsAgain() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 1024, 2048).start();
        SimulatedNic b = fabric.add(2, PortConfig.defaults().withQuotaBytes(1 << 19), 256, 2048)
                .start(0, 0);
        int quota = b.device.port().quotaCells();
        int sent = quota + 300;
        for (int i = 0; i < sent; i++) {
            a.prepare(Frames.frame(b.mac(), a.mac(), 60, i), 60);
        }
        a.tx.publish();
        fabric.await("the sender to be let go", () -> a.tx.completed() == sent);
        assertEquals(PortState.STUCK, b.device.port().state());
        assertTrue(b.device.port().heldCells() <= quota);
        assertEquals(sent - quota, b.count("rx_dropped_stuck"));
        assertEquals(1, b.count("stuck"));
        b.post(256);
        fabric.await("the port to recover", () -> b.device.port().state() == PortState.UP);
        int[] received = {0};
        fabric.await("what was queued", () -> (received[0] += b.receive().size()) == quota);
        a.completions();
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        fabric.await("a frame as before", () -> b.receive().size() == 1);
    }

    @Test
    void howeverManyPortsAreStuckTheOthersGoOn() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        for (int id = 3; id <= 10; id++) {
            SimulatedNic stuck = fabric.add(id, PortConfig.defaults(), 64, 2048).start(0, 0);
            SimulatedNic flooder =
                    fabric.add(100 + id, PortConfig.defaults(), 4096, 2048).start();
            for (int i = 0; i < 4096; i++) {
                flooder.prepare(Frames.frame(stuck.mac(), flooder.mac(), 60, i), 60);
            }
            flooder.tx.publish();
        }
        for (int i = 0; i < 500; i++) {
            a.send(Frames.frame(b.mac(), a.mac(), 1514, i));
            fabric.await("a frame between others", () -> b.receive().size() == 1);
            a.completions();
        }
        assertEquals(0, b.device.count().port.rxDropped());
        assertTrue(fabric.allocated() < fabric.fabric.core().memory().capacity());
    }
}
