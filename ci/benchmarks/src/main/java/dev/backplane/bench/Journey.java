// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.HostTrace.Event;
import dev.backplane.bench.HostTrace.Kind;
import dev.backplane.bench.RoundTrip.Step;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Follows round trips through a trace: node1's doorbell, the server, node2's interrupt, node2's doorbell, the server,
 * node1's interrupt.
 */
final class Journey {
    static final int NODE1 = 0;
    static final int NODE2 = 1;
    static final int SERVER = 2;

    /** Longer ones were disturbed by something else. */
    private static final double LONGEST_MICROS = 20_000;

    private final List<Event> events;
    private final List<RoundTrip> trips = new ArrayList<>();

    private Journey(List<Event> events) {
        this.events = events;
    }

    /**
     * The round trips of a trace that could be followed from end to end, in their order. That of {@link Step#GUEST1} is the
     * time to the next round trip's doorbell, which means something only if there is no pause in between.
     */
    static List<RoundTrip> follow(List<Event> events) {
        Journey j = new Journey(events);
        for (int i = 0; i < events.size(); i++) {
            if (j.is(i, Kind.SEND, NODE1)) {
                i = j.trip(i);
            }
        }
        return j.trips;
    }

    /** Follows the one whose doorbell comes next, {@code from} itself or a later one; returns where to go on. */
    private int trip(int from) {
        Map<Step, Double> steps = new EnumMap<>(Step.class);
        int first = doorbell(from, NODE1, NODE2);
        int arrived = first < 0 ? -1 : oneWay(first, NODE2, steps);
        int back = arrived < 0 ? -1 : doorbell(arrived, NODE2, NODE1);
        int end = back < 0 ? -1 : oneWay(back, NODE1, steps);
        if (end < 0 || micros(end) - micros(first) > LONGEST_MICROS) {
            return Math.max(first, from);
        }
        steps.put(Step.GUEST2, micros(back) - micros(arrived));
        int again = next(end, Kind.SEND, NODE1, -1);
        if (again < 0) {
            return end;
        }
        steps.put(Step.GUEST1, micros(again) - micros(end));
        trips.add(new RoundTrip(micros(first), micros(end), steps));
        return end;
    }

    /**
     * The doorbell that makes the server signal the other node: of several, such as those that only give buffers back, the
     * last one before the server's message before its signal; or -1.
     */
    private int doorbell(int from, int node, int to) {
        int woken = next(from, Kind.WOKEN, to, SERVER);
        int received = woken < 0 ? -1 : latest(woken, from, Kind.RECEIVED, SERVER);
        return received < 0 ? -1 : latest(received, from - 1, Kind.SEND, node);
    }

    /** The last event of that kind about {@code process} between the two, or -1. */
    private int latest(int before, int after, Kind kind, int process) {
        for (int i = before - 1; i > after; i--) {
            if (is(i, kind, process)) {
                return i;
            }
        }
        return -1;
    }

    /** From a doorbell to the other node's taking the interrupt, whose index is returned, or -1. */
    private int oneWay(int send, int to, Map<Step, Double> steps) {
        int woken = next(send, Kind.WOKEN, to, SERVER);
        int received = woken < 0 ? -1 : latest(woken, send, Kind.RECEIVED, SERVER);
        int taken = received < 0 ? -1 : next(woken, Kind.SIGNALLED, to, -1);
        if (taken < 0) {
            return -1;
        }
        double runs = micros(received);
        double asleep = runs;
        for (int i = received; i > send; i--) {
            if (events.get(i).thread() == events.get(received).thread()) {
                switch (events.get(i).kind()) {
                    case RUNS -> runs = micros(i);
                    case WOKEN -> asleep = micros(i);
                    default -> {}
                }
            }
        }
        asleep = Math.min(asleep, runs); // a thread that is awake gets it without being woken
        add(steps, Step.SEND, asleep - micros(send));
        add(steps, Step.SERVER_WAKE, runs - asleep);
        add(steps, Step.RECEIVE, micros(received) - runs);
        add(steps, Step.SERVE, micros(woken) - micros(received));
        int begins = next(woken, Kind.RUNS, to, -1);
        double begin = begins < 0 || begins > taken ? micros(woken) : micros(begins);
        add(steps, Step.QEMU_WAKE, begin - micros(woken));
        add(steps, Step.TAKE, micros(taken) - begin);
        return taken;
    }

    private static void add(Map<Step, Double> steps, Step step, double micros) {
        steps.merge(step, micros, Double::sum);
    }

    /** The next event of that kind about {@code process}, caused by {@code by} unless that is -1; or -1. */
    private int next(int from, Kind kind, int process, int by) {
        double limit = micros(from) + LONGEST_MICROS;
        for (int i = from + 1; i < events.size() && micros(i) < limit; i++) {
            if (is(i, kind, process) && (by < 0 || events.get(i).by() == by)) {
                return i;
            }
        }
        return -1;
    }

    private double micros(int i) {
        return events.get(i).micros();
    }

    private boolean is(int i, Kind kind, int process) {
        Event e = events.get(i);
        return e.kind() == kind && e.process() == process;
    }
}
