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
        SERVE("server: decode, fetch, allocate, copy, output"),
        SIGNAL("interrupt: the server's call to signal it"),
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

    /** Mean time of a step in microseconds; of {@link Step#GUEST1} it is not known here. */
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
        int back = arrived < 0 ? -1 : next(events, arrived, Kind.SEND, NODE2);
        int end = back < 0 ? -1 : oneWay(events, back, NODE1, steps);
        if (end < 0 || micros(events, end) - micros(events, first) > LONGEST_MICROS) {
            return first;
        }
        steps.put(Step.GUEST2, micros(events, back) - micros(events, arrived));
        steps.forEach((step, t) -> sums.merge(step, t, Double::sum));
        trips++;
        return end;
    }

    /** From a doorbell to the other node's taking the interrupt, whose index is returned, or -1. */
    private static int oneWay(List<Event> events, int send, int to, Map<Step, Double> steps) {
        int received = next(events, send, Kind.RECEIVED, SERVER);
        int signal = received < 0 ? -1 : next(events, received, Kind.SIGNAL, SERVER);
        int taken = signal < 0 ? -1 : next(events, signal, Kind.SIGNALLED, to);
        if (taken < 0) {
            return -1;
        }
        wait(events, send, received, Step.SEND, Step.SERVER_WAKE, Step.RECEIVE, steps);
        steps.merge(Step.SERVE, micros(events, signal) - micros(events, received), Double::sum);
        wait(events, signal, taken, Step.SIGNAL, Step.QEMU_WAKE, Step.TAKE, steps);
        return taken;
    }

    /** Splits the time from a call to its effect in another thread, which may have slept. */
    private static void wait(
            List<Event> events, int from, int to, Step before, Step asleep, Step after, Map<Step, Double> steps) {
        int thread = events.get(to).thread();
        double woken = Double.NaN;
        double runs = Double.NaN;
        for (int i = from; i < to; i++) {
            Event e = events.get(i);
            if (e.thread() == thread && e.kind() == Kind.WOKEN && Double.isNaN(woken)) {
                woken = e.micros();
            } else if (e.thread() == thread && e.kind() == Kind.RUNS) {
                runs = e.micros();
            }
        }
        double begin = micros(events, from);
        double end = micros(events, to);
        if (Double.isNaN(woken) || Double.isNaN(runs) || runs < woken) {
            steps.merge(before, end - begin, Double::sum); // it was awake
            return;
        }
        steps.merge(before, woken - begin, Double::sum);
        steps.merge(asleep, runs - woken, Double::sum);
        steps.merge(after, end - runs, Double::sum);
    }

    private static int next(List<Event> events, int from, Kind kind, int process) {
        double limit = micros(events, from) + LONGEST_MICROS;
        for (int i = from + 1; i < events.size() && micros(events, i) < limit; i++) {
            if (is(events.get(i), kind, process)) {
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
