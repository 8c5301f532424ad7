// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.vfiouser.device.ResetKind;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promises about the aggregation device, in the order of US 8,868,672, claim 1, one by one. */
@Timeout(30)
class PromisesTest {
    private final FabricFixture fabric = new FabricFixture();

    @AfterEach
    void close() {
        fabric.close();
    }

    @Test
    void promise1And2ADoorbellMakesTheDeviceFetchTheDescriptorFromGuestMemory() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        byte[] frame = Frames.frame(b.mac(), a.mac(), 60, 1);
        a.prepare(frame, frame.length);
        assertEquals(List.of(), a.completions(), "nothing happens before the descriptor is made available");
        a.tx.publish();
        assertEquals(1, a.tx.doorbells);
        assertEquals(List.of(TransmitCompletion.OK), a.completions());
        assertArrayEquals(frame, b.receive().get(0).data());
    }

    @Test
    void promise3DataMovesOnlyWhenItIsReady() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        byte[] frame = Frames.frame(b.mac(), a.mac(), 200, 1);
        a.prepare(frame, 100, 100);
        a.tx.producer--;
        a.tx.publish();
        assertEquals(List.of(), a.completions(), "the end of the frame is not there yet");
        assertEquals(0, fabric.allocated());
        a.tx.producer++;
        a.tx.publish();
        assertEquals(List.of(TransmitCompletion.OK, TransmitCompletion.OK), a.completions());
        assertArrayEquals(frame, b.receive().get(0).data());
    }

    @Test
    void promise4TheSenderCompletesWhileTheReceiverHasNoBuffer() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048).start(0, 0);
        byte[] frame = Frames.frame(b.mac(), a.mac(), 1514, 1);
        a.send(frame);
        assertEquals(List.of(TransmitCompletion.OK), a.completions());
        assertEquals(1, fabric.allocated(), "the frame is in rendezvous memory");
        assertEquals(1, b.device.port().queuedFrames());
        assertEquals(1, b.count("rx_waits"));
        b.post(8);
        assertEquals(1, b.rx.doorbells, "the gate has asked for a doorbell");
        assertArrayEquals(frame, b.take().get(0).data());
        assertEquals(0, fabric.allocated());
    }

    @Test
    void promise5BroadcastHasOneCopyOfTheDataAndADescriptorForEachPort() {
        SimulatedNic a = fabric.nic(1);
        for (int id = 2; id <= 9; id++) {
            fabric.add(id, PortConfig.defaults(), 64, 2048).start(0, 0);
        }
        byte[] frame = Frames.frame(MacAddress.BROADCAST, a.mac(), 1000, 1);
        a.send(frame);
        assertEquals(1, fabric.allocated(), "one cell for one frame of 1000 bytes");
        assertEquals(8, fabric.fabric.core().memory().descriptorsAllocated());
        for (SimulatedNic nic : fabric.nics.subList(1, 9)) {
            assertEquals(1, fabric.allocated(), "the place is freed by its last reader only");
            nic.post(1);
            assertArrayEquals(frame, nic.take().get(0).data());
        }
        assertEquals(0, fabric.allocated());
        assertEquals(List.of(), a.receive(), "nothing comes back to the sender");
    }

    @Test
    void promise5UnicastReachesItsTargetOnly() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        SimulatedNic c = fabric.nic(3);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        assertEquals(1, b.receive().size());
        assertEquals(0, c.receive().size());
        assertEquals(0, c.count("rx_frames"));
    }

    @Test
    void promise6AFrameWaitsUntilReceiveBuffersForAllOfItAreThere() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 1024).start(0, 0);
        byte[] frame = Frames.frame(b.mac(), a.mac(), 1500, 1);
        a.send(frame);
        b.post(1);
        assertEquals(List.of(), b.take(), "one buffer of 1024 bytes is not enough");
        b.post(1);
        SimulatedNic.Received r = b.take().get(0);
        assertEquals(2, r.buffers());
        assertArrayEquals(frame, r.data());
    }

    @Test
    void promise7NothingStaysAllocatedAfterAReset() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048).start(0, 0);
        for (int i = 0; i < 20; i++) {
            a.send(Frames.frame(b.mac(), a.mac(), 1514, i));
        }
        assertEquals(20, fabric.allocated());
        b.guest.reset(ResetKind.BUS);
        assertEquals(0, fabric.allocated());
        assertEquals(20, b.count("rx_dropped_down"));
    }

    @Test
    void promise7NothingStaysAllocatedAfterADisconnect() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048).start(0, 0);
        a.send(Frames.frame(b.mac(), a.mac(), 1514, 1));
        a.send(Frames.frame(MacAddress.BROADCAST, a.mac(), 1514, 1));
        b.guest.detach();
        assertEquals(0, fabric.allocated());
        a.send(Frames.frame(b.mac(), a.mac(), 1514, 1));
        assertEquals(0, fabric.allocated());
        assertEquals(3, b.count("rx_dropped_down"));
    }

    @Test
    void promise8ASenderWaitsAtAFullPortAndNothingIsLost() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 1024, 2048).start();
        SimulatedNic b = fabric.add(2, PortConfig.defaults().withQuotaBytes(1 << 19), 64, 2048)
                .start();
        int quota = b.device.port().quotaCells();
        int sent = quota + 200;
        for (int i = 0; i < sent; i++) {
            byte[] frame = Frames.frame(b.mac(), a.mac(), 60, i);
            a.prepare(frame, frame.length);
        }
        a.tx.publish();
        int received = 0;
        fabric.await("the sender to wait", () -> a.count("tx_port_waits") > 0);
        while (received < sent) {
            assertTrue(b.device.port().heldCells() <= quota);
            for (SimulatedNic.Received r : b.receive()) {
                assertArrayEquals(Frames.frame(b.mac(), a.mac(), 60, received++), r.data());
            }
        }
        fabric.await("the sender to complete", () -> a.tx.completed() == sent);
        assertEquals(sent, a.completions().size());
    }
}
