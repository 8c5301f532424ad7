// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.devices.loop.Timers;
import dev.backplane.devices.loop.Workers;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The messaging modules of all nodes, and what they share: the way from one to another, the pollers of context pages and
 * the timers. Any thread may add nodes and read views.
 */
public final class MessagingFabric implements AutoCloseable {
    private final MessagingConfig config;
    private final Workers workers;
    private final Timers timers;
    private final ContextPoller[] pollers;
    private final AtomicReferenceArray<MessagingModule> modules = new AtomicReferenceArray<>(Node.MAX_ID + 1);

    /** A fabric without nodes. The workers are the caller's, and outlive it. */
    public MessagingFabric(MessagingConfig config, Workers workers) {
        this(config, workers, new Timers(), System::nanoTime);
    }

    /**
     * A fabric on other timers, which become its own.
     *
     * @param clock what the pollers go by: nanoseconds since any time
     */
    MessagingFabric(MessagingConfig config, Workers workers, Timers timers, LongSupplier clock) {
        this.timers = timers;
        this.config = config;
        this.workers = workers;
        this.pollers = IntStream.range(0, config.pollers())
                .mapToObj(i -> new ContextPoller(config, i, clock))
                .toArray(ContextPoller[]::new);
    }

    /**
     * Adds a node's messaging module, to be presented to its guest.
     *
     * @throws IllegalArgumentException when the node's id is taken
     */
    public MessagingModule addNode(Node node) {
        MessagingModule module = new MessagingModule(this, node);
        if (!modules.compareAndSet(node.id(), null, module)) {
            throw new IllegalArgumentException("messaging: node id " + node.id() + " is taken by "
                    + modules.get(node.id()).node().name());
        }
        return module;
    }

    public MessagingConfig config() {
        return config;
    }

    /** All modules, by ascending node id. */
    public List<MessagingModule> modules() {
        return IntStream.range(0, modules.length())
                .mapToObj(modules::get)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Counters of the pollers; those of a module are its own. */
    public List<CounterGroup> counters() {
        return new ArrayList<>(
                Arrays.stream(pollers).map(ContextPoller::counters).toList());
    }

    /** Whether every poller sleeps: nothing is looked at until somebody rings a doorbell. */
    public boolean idle() {
        return Arrays.stream(pollers).allMatch(ContextPoller::parked);
    }

    /** The module of a node id, which is a process's and hostile, or null. */
    MessagingModule module(int node) {
        return node < modules.length() ? modules.get(node) : null;
    }

    Workers workers() {
        return workers;
    }

    Timers timers() {
        return timers;
    }

    ContextPoller poller(GetPutContext context) {
        return pollers[context.number % pollers.length];
    }

    /** Ends the threads. The modules' clients are gone by then. */
    @Override
    public void close() {
        for (ContextPoller p : pollers) {
            p.close();
        }
        timers.close();
    }
}
