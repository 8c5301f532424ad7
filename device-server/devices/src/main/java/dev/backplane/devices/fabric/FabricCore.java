// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.devices.loop.Timers;
import dev.backplane.devices.loop.Workers;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What all ports of one fabric share: rendezvous memory and who waits for it, partitions, clock. Any thread. */
public final class FabricCore {
    private static final long SECOND = 1_000_000_000L;

    private final FabricConfig config;
    private final Workers workers;
    private final RendezvousMemory memory;
    private final MemoryWaitQueue waiters;
    private final int grantCells;
    private final long stuckNanos;
    private final Map<String, ForwardingDomain> domains = new ConcurrentHashMap<>();
    private final FabricCounters counters = new FabricCounters();
    private final Timers.Timer ageing;

    /**
     * A fabric without ports.
     *
     * @param memory zeroed, accessible from any thread, of the size that the configuration says
     */
    public FabricCore(FabricConfig config, MemorySegment memory, Workers workers, int maxQueues) {
        this.config = config;
        this.workers = workers;
        this.memory = new RendezvousMemory(memory, config.cellBytes(), maxQueues);
        this.grantCells = this.memory.cellsFor(FabricConfig.MAX_FRAME);
        this.stuckNanos = config.stuckMillis() * 1_000_000L;
        this.waiters = new MemoryWaitQueue(workers, this.memory, grantCells);
        this.ageing = workers.timers().timer(this::age);
        armAgeing(workers.timers().now());
    }

    public FabricConfig config() {
        return config;
    }

    public RendezvousMemory memory() {
        return memory;
    }

    /** The partition of that name, made when it is named for the first time. */
    public ForwardingDomain domain(String partition) {
        return domains.computeIfAbsent(partition, name -> new ForwardingDomain(name, config, counters));
    }

    public FabricCounters counters() {
        return counters;
    }

    public Collection<ForwardingDomain> domains() {
        return domains.values();
    }

    public Workers workers() {
        return workers;
    }

    public Timers timers() {
        return workers.timers();
    }

    /** Time in seconds, from about 0 on. */
    public int seconds() {
        return (int) (timers().now() / SECOND);
    }

    WaitQueue waiters() {
        return waiters;
    }

    /** Cells of the largest frame: what a waiting sender gets at a time. */
    int grantCells() {
        return grantCells;
    }

    long stuckNanos() {
        return stuckNanos;
    }

    private void age() {
        // One reading of the clock for all: the next look is due a period after this one, however long this one takes.
        long now = timers().now();
        int seconds = (int) (now / SECOND);
        for (ForwardingDomain d : domains.values()) {
            d.age(seconds - config.macAgeSeconds(), seconds);
        }
        armAgeing(now);
    }

    private void armAgeing(long now) {
        ageing.arm(now + Math.max(1, config.macAgeSeconds() / 8) * SECOND);
    }

    /** Ends what runs by itself. */
    public void close() {
        ageing.disarm();
    }
}
