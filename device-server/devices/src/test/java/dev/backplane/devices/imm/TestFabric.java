// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.devices.loop.Timers;
import dev.backplane.devices.loop.Workers;
import dev.backplane.devices.sim.MessageMemory;
import dev.backplane.devices.sim.SimulatedGuest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** A fabric with simulated guests, for one test. */
final class TestFabric implements AutoCloseable {
    static final long KEY = 0x1122_3344_5566_7788L;

    final Workers workers;
    final MessagingFabric fabric;
    private final List<SimulatedDriver> drivers = new ArrayList<>();
    private final Map<Integer, MessageMemory> messages = new HashMap<>();

    TestFabric() {
        this(MessagingConfig.defaults());
    }

    TestFabric(MessagingConfig config) {
        this(config, Workers.Mode.INLINE, 1);
    }

    TestFabric(MessagingConfig config, Workers.Mode mode, int threads) {
        this(config, mode, threads, new Timers(), System::nanoTime);
    }

    /** With waits by a clock of the test's. */
    TestFabric(MessagingConfig config, Timers timers) {
        this(config, Workers.Mode.INLINE, 1, timers, System::nanoTime);
    }

    /** With pollers that go by a clock of the test's. */
    TestFabric(MessagingConfig config, LongSupplier pollersClock) {
        this(config, Workers.Mode.INLINE, 1, new Timers(), pollersClock);
    }

    private TestFabric(
            MessagingConfig config, Workers.Mode mode, int threads, Timers timers, LongSupplier pollersClock) {
        workers = new Workers(mode, threads, 16_384);
        fabric = new MessagingFabric(config, workers, timers, pollersClock);
    }

    /** Adds a node with a guest that is connected and runs. */
    SimulatedDriver node(int id) {
        return node(Node.of(id));
    }

    SimulatedDriver node(Node node) {
        SimulatedDriver d = new SimulatedDriver(fabric.addNode(node));
        drivers.add(d);
        return d;
    }

    /** Adds a node whose guest does not share its memory: {@link #messages} tells how it is accessed. */
    SimulatedDriver unsharedNode(int id) {
        SimulatedGuest guest = new SimulatedGuest(64 << 20);
        messages.put(id, new MessageMemory(guest));
        SimulatedDriver d = new SimulatedDriver(fabric.addNode(Node.of(id)), guest);
        drivers.add(d);
        return d;
    }

    /** The memory of a node's guest that does not share it. */
    MessageMemory messages(SimulatedDriver d) {
        return messages.get(d.module.node().id());
    }

    /** Connects a new guest to a node whose guest is gone. */
    SimulatedDriver again(SimulatedDriver gone) {
        SimulatedDriver d = new SimulatedDriver(gone.module, new SimulatedGuest(64 << 20));
        drivers.add(d);
        return d;
    }

    /** Waits for a condition that other threads make true; an error after ten seconds. */
    static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited in vain for " + what);
            }
            LockSupport.parkNanos(50_000);
        }
    }

    @Override
    public void close() {
        for (SimulatedDriver d : drivers) {
            if (d.guest.device() != null) {
                d.close();
            }
        }
        fabric.close();
        workers.close();
    }
}
