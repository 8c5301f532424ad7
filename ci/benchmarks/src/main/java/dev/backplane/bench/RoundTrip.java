// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One round trip that was followed through a trace.
 *
 * @param begin when node1 rang its doorbell, microseconds of the trace's clock
 * @param end when node1's QEMU took the interrupt for the answer
 * @param steps microseconds of each step, those of both directions added; they add up to all of it
 */
record RoundTrip(double begin, double end, Map<Step, Double> steps) {
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

    /** All of it, microseconds. */
    double total() {
        return steps.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** The same one, of which it is known otherwise how long all of it took: what is not in the trace is node1's. */
    RoundTrip lasting(double micros) {
        Map<Step, Double> all = new EnumMap<>(steps);
        all.put(Step.GUEST1, micros - (end - begin));
        return new RoundTrip(begin, end, all);
    }

    /**
     * The half of them in the middle, by duration. Neither those that something else disturbed nor the shortest ones weigh in
     * its means; and since all means are over the same round trips, those of the steps add up to that of the whole.
     */
    static List<RoundTrip> middle(List<RoundTrip> trips) {
        List<RoundTrip> sorted = trips.stream()
                .sorted(Comparator.comparingDouble(RoundTrip::total))
                .toList();
        return sorted.subList(sorted.size() / 4, sorted.size() - sorted.size() / 4);
    }
}
