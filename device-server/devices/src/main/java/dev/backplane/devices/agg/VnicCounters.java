// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.PortCounters;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.layout.Field;
import java.util.Arrays;

/** What a vNIC counts; the statistics block in BAR 0 is a part of it, by name. */
final class VnicCounters {
    private final CounterGroup group = new CounterGroup("agg");

    final PortCounters port = new PortCounters(group);
    final Counter txDoorbells = group.counter("tx_doorbells", "Doorbells of transmit queues");
    final Counter rxDoorbells = group.counter("rx_doorbells", "Doorbells of receive queues");
    final Counter rxErrors = group.counter("rx_errors", "Receive buffers that were bad");
    final Counter interrupts = group.counter("interrupts", "Interrupts signalled");
    final Counter interruptsSuppressed =
            group.counter("interrupts_suppressed", "Completions for which the event index wanted no interrupt");
    final Counter interruptsModerated = group.counter("interrupts_moderated", "Interrupts held back by moderation");
    final Counter queueErrors = group.counter("queue_errors", "Queues that stopped with an error");
    final Counter badAccesses = group.counter("bad_accesses", "Register accesses that were refused");
    final Counter resets = group.counter("resets", "Resets of the device");
    final Counter notBusMaster = group.counter("not_bus_master", "Turns put off because bus mastering was off");

    private final Counter[] block = new Counter[AggStatistics.LAYOUT.fields().size()];
    /** What was counted in the server that the guest came from; only the client's thread. */
    private final long[] before = new long[block.length];

    VnicCounters() {
        int i = 0;
        for (Field f : AggStatistics.LAYOUT.fields()) {
            block[i++] = find(f.name());
        }
    }

    private Counter find(String name) {
        for (Counter c : group.all()) {
            if (c.name().equals(name)) {
                return c;
            }
        }
        throw new IllegalStateException("no counter for statistics field " + name);
    }

    CounterGroup group() {
        return group;
    }

    /** The statistic at {@code offset} of the block, a multiple of 8. */
    long statistic(int offset) {
        return block[offset / 8].get() + before[offset / 8];
    }

    /** Lets a statistic go on from {@code value}, which it has reached elsewhere; the counter itself does not change. */
    void continueFrom(int offset, long value) {
        before[offset / 8] = value - block[offset / 8].get();
    }

    /** The guest that statistics were continued for has left. */
    void forgetBefore() {
        Arrays.fill(before, 0);
    }
}
