// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.RoundTrip.Step;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Follows round trips through a trace: node1's doorbell, the server, node2's interrupt, node2's doorbell, the server,
 * node1's interrupt. One that cannot be told from others for sure, or that lacks a doorbell or an interrupt because the
 * other side was awake, is left out.
 */
final class Journey {
    static final int NODE1 = 0;
    static final int NODE2 = 1;
    static final int SERVER = 2;

    /** Longer ones were disturbed by something else. */
    private static final double LONGEST_MICROS = 20_000;

    private final Passages found;
    private final List<Passage> passages;

    private Journey(List<TraceEvent> events) {
        this.found = new Passages(events, SERVER);
        this.passages = found.all();
    }

    /**
     * The round trips of a trace that could be followed from end to end, in their order. That of {@link Step#GUEST1} is the
     * time to the next round trip's doorbell, which means something only if there is no pause in between.
     */
    static List<RoundTrip> follow(List<TraceEvent> events) {
        Journey j = new Journey(events);
        List<RoundTrip> trips = new ArrayList<>();
        for (int i = 0; i + 2 < j.passages.size(); i++) {
            if (j.isRoundTrip(i)) {
                trips.add(trip(j.passages.get(i), j.passages.get(i + 1), j.passages.get(i + 2)));
            }
        }
        return trips;
    }

    /** Whether a passage begins a round trip: it and the next one are a question and its answer, and the only ones under way. */
    private boolean isRoundTrip(int i) {
        Passage there = passages.get(i);
        Passage back = passages.get(i + 1);
        Passage next = passages.get(i + 2);
        return there.from() == NODE1
                && back.from() == NODE2
                && next.from() == NODE1
                && there.complete()
                && back.complete()
                && there.end() < back.begin()
                && back.end() < next.begin()
                && back.end() - there.begin() <= LONGEST_MICROS
                && (i == 0 || isOver(passages.get(i - 1), there.begin()));
    }

    /** Whether what began with this passage is over by then: it was an answer, or is a question that has been answered. */
    private boolean isOver(Passage before, double then) {
        if (!before.isTaken() || before.end() >= then) {
            return false;
        }
        // The answer to a question may need no doorbell of node2's, but node1 has been signalled.
        return before.from() == NODE2 || found.hears(NODE1, before.end(), then);
    }

    private static RoundTrip trip(Passage there, Passage back, Passage next) {
        Map<Step, Double> steps = new EnumMap<>(Step.class);
        there.addTo(steps);
        steps.put(Step.GUEST2, back.begin() - there.end());
        back.addTo(steps);
        steps.put(Step.GUEST1, next.begin() - back.end());
        return new RoundTrip(there.begin(), back.end(), steps);
    }
}
