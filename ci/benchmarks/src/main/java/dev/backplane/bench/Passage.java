// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.RoundTrip.Step;
import dev.backplane.bench.TraceEvent.Kind;
import java.util.List;
import java.util.Map;

/**
 * One way from node to node: a doorbell, the server's thread that receives it and signals the other node, and the other
 * node's QEMU that takes the signal. All are places in the trace's list of events.
 */
final class Passage {
    private final List<TraceEvent> events;
    private final List<Integer> doorbells;
    private final int received;
    private final int signal;
    private int taken = -1;
    private boolean alone;

    /** @param doorbells all that were received at once: with more than one nobody knows which of them mattered */
    Passage(List<TraceEvent> events, List<Integer> doorbells, int received, int signal) {
        this.events = events;
        this.doorbells = doorbells;
        this.received = received;
        this.signal = signal;
    }

    /** Number of the node that has rung. */
    int from() {
        return events.get(doorbells.getLast()).process();
    }

    /** The other node takes the signal; {@code alone} is false if it takes those of several passages at once. */
    void taken(int at, boolean alone) {
        this.taken = at;
        this.alone = alone;
    }

    boolean isTaken() {
        return taken >= 0;
    }

    /** Whether each of its times is known, and its own. */
    boolean complete() {
        return isTaken() && alone && doorbells.size() == 1;
    }

    /** When the doorbell was rung, microseconds. */
    double begin() {
        return events.get(doorbells.getLast()).micros();
    }

    /** When the signal was taken, microseconds; it is. */
    double end() {
        return events.get(taken).micros();
    }

    /** Adds the time of each step to the sums; it is complete. */
    void addTo(Map<Step, Double> steps) {
        double receipt = events.get(received).micros();
        double signalled = events.get(signal).micros();
        int server = events.get(received).thread();
        int doorbell = doorbells.getLast();
        double runs = first(Kind.RUNS, server, doorbell, received, receipt);
        // A thread that is awake gets it without being woken.
        double woken = Math.min(runs, first(Kind.WOKEN, server, doorbell, received, runs));
        add(steps, Step.SEND, woken - begin());
        add(steps, Step.SERVER_WAKE, runs - woken);
        add(steps, Step.RECEIVE, receipt - runs);
        add(steps, Step.SERVE, signalled - receipt);
        double takes = first(Kind.RUNS, events.get(taken).thread(), signal, taken, signalled);
        add(steps, Step.QEMU_WAKE, takes - signalled);
        add(steps, Step.TAKE, end() - takes);
    }

    private static void add(Map<Step, Double> steps, Step step, double micros) {
        steps.merge(step, micros, Double::sum);
    }

    /** When something first happens to a thread between two events, or {@code otherwise}. */
    private double first(Kind kind, int thread, int after, int before, double otherwise) {
        for (int i = after + 1; i < before; i++) {
            TraceEvent e = events.get(i);
            if (e.kind() == kind && e.thread() == thread) {
                return e.micros();
            }
        }
        return otherwise;
    }
}
