// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.fabric.PortState;
import dev.backplane.devices.sim.ManualClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What depends on time, by a clock that the test moves: latency, rate, moderation, ageing, being stuck. */
@Timeout(60)
class TimedPortTest {
    private static final long MICROS = 1000;

    private final ManualClock clock = new ManualClock();
    private final FabricFixture fabric =
            new FabricFixture(FabricConfig.defaults().withRendezvousBytes(16 << 20), clock);

    @BeforeEach
    void start() {
        clock.advance(MICROS);
    }

    @AfterEach
    void close() {
        fabric.close();
    }

    private SimulatedNic nic(int id, PortConfig config, int ring) {
        return fabric.add(id, config, ring, 2048).start();
    }

    private void awaitReceived(SimulatedNic nic, int frames) {
        fabric.await(frames + " frames", () -> nic.count("rx_frames") >= frames);
        assertEquals(frames, nic.count("rx_frames"));
    }

    @Test
    void latencyKeepsEachFrameForItsTime() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 64);
        SimulatedNic b = nic(2, PortConfig.defaults().withLatencyMicros(1000), 64);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        clock.advance(600 * MICROS);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 2));
        assertEquals(2, b.device.port().queuedFrames());
        clock.advance(399 * MICROS);
        assertEquals(0, b.count("rx_frames"));
        clock.advance(MICROS);
        awaitReceived(b, 1);
        clock.advance(599 * MICROS);
        assertEquals(1, b.count("rx_frames"));
        clock.advance(MICROS);
        awaitReceived(b, 2);
        assertEquals(PortState.UP, b.device.port().state(), "waiting for the time is not being stuck");
        assertEquals(0, b.count("rx_waits"));
    }

    @Test
    void rateLetsABurstThroughAndThenSoManyBytesASecond() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 128);
        SimulatedNic b = nic(2, PortConfig.defaults().withRateMbit(8), 128); // a byte in a microsecond
        for (int i = 0; i < 80; i++) {
            a.prepare(Frames.frame(b.mac(), a.mac(), 1000, i), 1000);
        }
        a.tx.publish();
        fabric.await("the sender", () -> a.tx.completed() == 80);
        int burst = FabricConfig.MAX_FRAME / 1000;
        awaitReceived(b, burst);
        int left = FabricConfig.MAX_FRAME - burst * 1000;
        clock.advance((1000 - left - 1) * MICROS);
        assertEquals(burst, b.count("rx_frames"));
        clock.advance(MICROS + 2);
        awaitReceived(b, burst + 1);
        for (int i = 2; i <= 14; i++) {
            clock.advance(1000 * MICROS + 2);
            awaitReceived(b, burst + i);
        }
    }

    @Test
    void moderationHoldsInterruptsBackButNotTheFirst() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 64);
        SimulatedNic b = nic(2, PortConfig.defaults(), 64);
        b.guest.write32(0, b.rx.register(QueueRegisters.MODERATION_USECS), 100);
        assertEquals(1, interruptAfter(a, b), "the first comes at once");
        assertEquals(1, interruptAfter(a, b), "the second is held back");
        assertEquals(1, b.count("interrupts_moderated"));
        clock.advance(99 * MICROS);
        assertEquals(1, b.guest.interrupts().count(SimulatedNic.RX_VECTOR));
        clock.advance(MICROS);
        b.guest.interrupts().await(SimulatedNic.RX_VECTOR, 2);
        clock.advance(100 * MICROS);
        assertEquals(3, interruptAfter(a, b), "after a pause it comes at once again");
    }

    @Test
    void moderationEndsAfterSoManyFrames() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 64);
        SimulatedNic b = nic(2, PortConfig.defaults(), 64);
        b.guest.write32(0, b.rx.register(QueueRegisters.MODERATION_USECS), 1_000_000);
        b.guest.write32(0, b.rx.register(QueueRegisters.MODERATION_FRAMES), 4);
        assertEquals(1, interruptAfter(a, b));
        for (int i = 0; i < 3; i++) {
            assertEquals(1, interruptAfter(a, b));
        }
        assertEquals(2, interruptAfter(a, b), "the fourth");
        b.guest.write32(0, b.rx.register(QueueRegisters.MODERATION_USECS), 0);
        assertEquals(3, interruptAfter(a, b), "without moderation each");
    }

    /** Sends one frame to a driver that wants an interrupt; returns how many there have been in all. */
    private static long interruptAfter(SimulatedNic a, SimulatedNic b) {
        b.receive();
        b.rx.wantInterrupt(b.rx.consumed);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        a.completions();
        return b.guest.interrupts().count(SimulatedNic.RX_VECTOR);
    }

    @Test
    void addressesMoveAndAge() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 64);
        SimulatedNic b = nic(2, PortConfig.defaults(), 64);
        SimulatedNic c = nic(3, PortConfig.defaults(), 64);
        c.guest.write32(0, AggRegisters.PACKET_FILTER, AggRegisters.FILTER_PROMISCUOUS);
        MacAddress guestOfA = new MacAddress(0x0200_0000_0042L);
        byte[] toIt = Frames.frame(guestOfA, b.mac(), 60, 1);
        b.send(toIt);
        assertEquals(1, c.receive().size(), "unknown: flooded to who wants such frames");
        a.send(Frames.frame(b.mac(), guestOfA, 60, 2));
        assertEquals(1, count("mac_learnt"));
        b.send(toIt);
        assertEquals(0, c.receive().size());
        assertEquals(1, a.receive().size());
        c.send(Frames.frame(b.mac(), guestOfA, 60, 3));
        assertEquals(1, count("mac_moved"));
        b.send(toIt);
        assertEquals(1, c.receive().size());
        assertEquals(0, a.receive().size());
        clock.advanceSeconds(290);
        c.send(Frames.frame(b.mac(), guestOfA, 60, 4)); // still in use
        clock.advanceSeconds(290);
        assertEquals(0, count("mac_aged"));
        clock.advanceSeconds(60);
        fabric.await("ageing", () -> count("mac_aged") == 1);
        b.receive();
        b.send(Frames.frame(guestOfA, b.mac(), 60, 5));
        assertEquals(2, count("flooded"), "unknown again");
        a.send(Frames.frame(b.mac(), c.mac(), 60, 6));
        assertEquals(1, count("mac_refused"), "the address of a node does not move");
        byte[] toC = Frames.frame(c.mac(), b.mac(), 60, 7);
        c.receive();
        b.send(toC);
        assertEquals(1, c.receive().size());
    }

    private long count(String name) {
        return fabric.fabric.counters().get(name);
    }

    @Test
    void portIsStuckAfterTheConfiguredTimeAndNotBefore() {
        SimulatedNic a = nic(1, PortConfig.defaults(), 64);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 2048).start(VnicDevice.FEATURES, 0);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        clock.advance(249_999 * MICROS);
        assertEquals(PortState.UP, b.device.port().state());
        clock.advance(MICROS);
        fabric.await("the port to be stuck", () -> b.device.port().state() == PortState.STUCK);
        b.post(1);
        fabric.await("the port to recover", () -> b.device.port().state() == PortState.UP);
        assertTrue(b.count("rx_waits") > 0);
    }
}
