// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.layout.Field;

/** The counters of one module: those of the statistics block, under the same names. */
final class ModuleCounters {
    private final CounterGroup group = new CounterGroup("imm");
    private final Counter[] inOrder = new Counter[ImmStatistics.LAYOUT.fields().size()];
    private int declared;

    final Counter actions = next("actions");
    final Counter puts = next("puts");
    final Counter gets = next("gets");
    final Counter oneSided = next("one_sided");
    final Counter atomics = next("atomics");
    final Counter payloadBytes = next("payload_bytes");
    final Counter full = next("full");
    final Counter empty = next("empty");
    final Counter denied = next("denied");
    final Counter unreachable = next("unreachable");
    final Counter aborted = next("aborted");
    final Counter refused = next("refused");
    final Counter waits = next("waits");
    final Counter timeouts = next("timeouts");
    final Counter lateResults = next("late_results");
    final Counter badSubmits = next("bad_submits");
    final Counter ringElementsIn = next("ring_elements_in");
    final Counter ringElementsOut = next("ring_elements_out");
    final Counter ringDenied = next("ring_denied");
    final Counter ringCorrupt = next("ring_corrupt");
    final Counter doorbells = next("doorbells");
    final Counter sleeps = next("sleeps");
    final Counter lostRaces = next("lost_races");
    final Counter events = next("events");
    final Counter interrupts = next("interrupts");
    final Counter interruptsCoalesced = next("interrupts_coalesced");
    final Counter contextsOpened = next("contexts_opened");
    final Counter contextsClosed = next("contexts_closed");
    final Counter adminCommands = next("admin_commands");
    final Counter adminRefused = next("admin_refused");
    final Counter badAccesses = next("bad_accesses");
    final Counter memoryFaults = next("memory_faults");
    final Counter resets = next("resets");
    final Counter adminInterrupted = next("admin_interrupted");

    private Counter next(String name) {
        Field f = ImmStatistics.LAYOUT.fields().get(declared);
        if (!f.name().equals(name)) {
            throw new IllegalStateException("counter " + name + " is where the layout has " + f.name());
        }
        Counter c = group.counter(name, f.doc());
        inOrder[declared++] = c;
        return c;
    }

    CounterGroup group() {
        return group;
    }

    /** The counter at byte {@code offset} of the statistics block, which is a multiple of 8 inside it. */
    Counter at(int offset) {
        return inOrder[offset / 8];
    }
}
