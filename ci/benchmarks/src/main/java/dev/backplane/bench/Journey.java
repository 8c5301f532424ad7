// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.HostTrace.Event;
import dev.backplane.bench.HostTrace.Kind;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Follows round trips through a trace: node1's doorbell, the server, node2's interrupt, node2's doorbell, the server,
 * node1's interrupt. Adds up how long each step takes; the two directions are added to each other.
 */
final class Journey {
    static final int NODE1 = 0;
    static final int NODE2 = 1;
    static final int SERVER = 2;

    /** Where the time of a round trip is. */
    enum Step {
        SEND("doorbell: QEMU's call to send it"),
        SERVER_WAKE("wake-up of the server's thread"),
        RECEIVE("the server's call returns"),
        SERVE("server: decode, fetch, allocate, copy, output, signal"),
        QEMU_WAKE("wake-up of QEMU's thread"),
        TAKE("QEMU takes the signal"),
        GUEST2("node2: its QEMU and guest, from the interrupt to its doorbell"),
        GUEST1("node1: its QEMU and guest, the rest");

        private final String label;

        Step(String label) {
            this.label = label;
        }

        @Override
        public String toString() {
            return label;
        }
    }

    /** Longer ones were disturbed by something else. */
    private static final double LONGEST_MICROS = 20_000;

    private final Map<Step, Double> sums = new EnumMap<>(Step.class);
    private int trips;

    /** Round trips that were followed from end to end. */
    int trips() {
        return trips;
    }

    /**
     * Mean time of a step in microseconds. That of {@link Step#GUEST1} is up to the next round trip's doorbell, which
     * means something only if there is no pause in between.
     */
    double mean(Step step) {
        return sums.getOrDefault(step, 0.0) / trips;
    }

    /** Follows all round trips in a trace. */
    static Journey follow(List<Event> events) {
        Journey j = new Journey();
        for (int i = 0; i < events.size(); i++) {
            if (is(events.get(i), Kind.SEND, NODE1)) {
                i = j.trip(events, i);
            }
        }
        return j;
    }

    /** Follows one that starts at {@code first}; returns where to go on. */
    private int trip(List<Event> events, int first) {
        Map<Step, Double> steps = new EnumMap<>(Step.class);
        int arrived = oneWay(events, first, NODE2, steps);
        int back = arrived < 0 ? -1 : next(events, arrived, Kind.SEND, NODE2, -1);
        int end = back < 0 ? -1 : oneWay(events, back, NODE1, steps);
        if (end < 0 || micros(events, end) - micros(events, first) > LONGEST_MICROS) {
            return first;
        }
        steps.put(Step.GUEST2, micros(events, back) - micros(events, arrived));
        int again = next(events, end, Kind.SEND, NODE1, -1);
        if (again < 0) {
            return end;
        }
        steps.put(Step.GUEST1, micros(events, again) - micros(events, end));
        steps.forEach((step, t) -> sums.merge(step, t, Double::sum));
        trips++;
        return end;
    }

    /** From a doorbell to the other node's taking the interrupt, whose index is returned, or -1. */
    private static int oneWay(List<Event> events, int send, int to, Map<Step, Double> steps) {
        int received = next(events, send, Kind.RECEIVED, SERVER, -1);
        int woken = received < 0 ? -1 : next(events, received, Kind.WOKEN, to, SERVER);
        int taken = woken < 0 ? -1 : next(events, woken, Kind.SIGNALLED, to, -1);
        if (taken < 0) {
            return -1;
        }
        double runs = micros(events, received);
        double asleep = runs;
        for (int i = received; i > send; i--) {
            if (events.get(i).thread() == events.get(received).thread()) {
                switch (events.get(i).kind()) {
                    case RUNS -> runs = micros(events, i);
                    case WOKEN -> asleep = micros(events, i);
                    default -> {}
                }
            }
        }
        asleep = Math.min(asleep, runs); // a thread that is awake gets it without being woken
        add(steps, Step.SEND, asleep - micros(events, send));
        add(steps, Step.SERVER_WAKE, runs - asleep);
        add(steps, Step.RECEIVE, micros(events, received) - runs);
        add(steps, Step.SERVE, micros(events, woken) - micros(events, received));
        int begins = next(events, woken, Kind.RUNS, to, -1);
        double begin = begins < 0 || begins > taken ? micros(events, woken) : micros(events, begins);
        add(steps, Step.QEMU_WAKE, begin - micros(events, woken));
        add(steps, Step.TAKE, micros(events, taken) - begin);
        return taken;
    }

    private static void add(Map<Step, Double> steps, Step step, double micros) {
        steps.merge(step, micros, Double::sum);
    }

    /** The next event of that kind about {@code process}, caused by {@code by} unless that is -1; or -1. */
    private static int next(List<Event> events, int from, Kind kind, int process, int by) {
        double limit = micros(events, from) + LONGEST_MICROS;
        for (int i = from + 1; i < events.size() && micros(events, i) < limit; i++) {
            if (is(events.get(i), kind, process) && (by < 0 || events.get(i).by() == by)) {
                return i;
            }
        }
        return -1;
    }

    private static double micros(List<Event> events, int i) {
        return events.get(i).micros();
    }

    private static boolean is(Event e, Kind kind, int process) {
        return e.kind() == kind && e.process() == process;
    }
}
