// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.loop.Timers;
import dev.backplane.devices.loop.Workers;
import dev.backplane.devices.sim.ManualClock;
import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A fabric with simulated guests. Closing it checks what has to hold at the end of any test. */
final class FabricFixture implements AutoCloseable {
    final Workers workers;
    final SwitchFabric fabric;
    final List<SimulatedNic> nics = new ArrayList<>();

    FabricFixture() {
        this(FabricConfig.defaults().withRendezvousBytes(16 << 20));
    }

    FabricFixture(FabricConfig config) {
        this(config, Workers.Mode.INLINE);
    }

    FabricFixture(FabricConfig config, Workers.Mode mode) {
        this(config, mode, 2, new Timers());
    }

    /** A fabric all of whose loops run on so many workers. */
    FabricFixture(FabricConfig config, int threads) {
        this(config, Workers.Mode.DEBUG, threads, new Timers());
    }

    /** A fabric whose time goes on when the test says so. */
    FabricFixture(FabricConfig config, ManualClock clock) {
        this(config, Workers.Mode.INLINE, 2, clock.timers());
    }

    private FabricFixture(FabricConfig config, Workers.Mode mode, int threads, Timers timers) {
        workers = new Workers(mode, threads, 16_384, timers);
        fabric = new SwitchFabric(config, workers);
    }

    /** A started guest with rings of 64 and buffers of 2 KiB. */
    SimulatedNic nic(int id) {
        return add(id, PortConfig.defaults(), 64, 2048).start();
    }

    /** A guest that is not started yet. */
    SimulatedNic add(int id, PortConfig config, int ring, int buffers) {
        return add(Node.of(id), config, ring, buffers);
    }

    /** A guest whose transmit buffers are {@code txBytes} apart. */
    SimulatedNic add(int id, int ring, int buffers, int txBytes) {
        SimulatedNic nic = new SimulatedNic(fabric.addNode(Node.of(id), PortConfig.defaults()), ring, buffers, txBytes);
        nics.add(nic);
        return nic;
    }

    SimulatedNic add(Node node, PortConfig config, int ring, int buffers) {
        SimulatedNic nic = new SimulatedNic(fabric.addNode(node, config), ring, buffers);
        nics.add(nic);
        return nic;
    }

    int allocated() {
        return fabric.core().memory().allocated();
    }

    /** Waits, a moment at a time, for what other threads bring about. */
    void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("waited in vain for " + what + "; " + this);
            }
            Thread.onSpinWait();
        }
    }

    /** In = out + dropped, over all ports. */
    void assertBalanced() {
        CounterGroup c = fabric.counters();
        long in = 0;
        long out = 0;
        for (VnicDevice v : fabric.devices()) {
            in += v.count().port.txFrames.get();
            out += v.count().port.rxFrames.get()
                    + v.count().port.rxDropped()
                    + v.port().queuedFrames();
        }
        for (UplinkPort u : fabric.uplinks()) {
            in += u.counters().txFrames.get();
            out += u.counters().rxFrames.get() + u.counters().rxDropped() + u.queuedFrames();
        }
        assertEquals(
                in,
                c.get("unicast") + c.get("flooded") + c.get("no_destination"),
                () -> "frames in, and what became of them; " + this);
        assertEquals(c.get("copies"), out, () -> "copies, and what became of them; " + this);
    }

    /** Ends all guests and checks that nothing stays allocated. */
    @Override
    public void close() {
        nics.forEach(SimulatedNic::close);
        fabric.uplinks().forEach(u -> u.setCarrier(false));
        await(
                "rendezvous memory to be free",
                () -> allocated() == 0 && fabric.core().memory().descriptorsAllocated() == 0);
        await(
                "charges to be returned",
                () -> fabric.devices().stream()
                                .allMatch(d ->
                                        d.port().heldCells() == 0 && d.port().queuedFrames() == 0)
                        && fabric.uplinks().stream().allMatch(u -> u.heldCells() == 0 && u.queuedFrames() == 0));
        assertBalanced();
        assertEquals(0, workers.counters().get("failures"), "turns that ended in an exception");
        workers.close();
        fabric.close();
    }

    @Override
    public String toString() {
        StringBuilder s = new StringBuilder("allocated " + allocated() + "\n" + fabric.counters());
        fabric.devices()
                .forEach(d -> s.append("\n")
                        .append(d)
                        .append(' ')
                        .append(d.port().state())
                        .append(' ')
                        .append(d.counters()));
        fabric.uplinks()
                .forEach(u -> s.append("\n")
                        .append(u)
                        .append(' ')
                        .append(u.state())
                        .append(' ')
                        .append(u.counterGroup()));
        return s.toString();
    }
}
