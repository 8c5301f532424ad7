// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The ways from node to node in a trace. */
final class Passages {
    /** What a thread of the server has received last: doorbells, and the passage that came of them or null. */
    private static final class Receipt {
        private final int at;
        private final List<Integer> doorbells;
        private Passage passage;

        Receipt(int at, List<Integer> doorbells) {
            this.at = at;
            this.doorbells = doorbells;
        }
    }

    /**
     * A signal that nobody has taken.
     *
     * @param passage that it belongs to, or null
     * @param own whether the node's own doorbell has caused it
     */
    private record Signal(Passage passage, boolean own) {}

    private final List<TraceEvent> events;
    private final Wiring wiring;
    private final int server;

    /** Doorbells that have not been received, by the thread that will. */
    private final Map<Integer, List<Integer>> rung = new HashMap<>();

    private final Map<Integer, Receipt> receipts = new HashMap<>();
    private final Map<Integer, List<Signal>> signals = new HashMap<>();
    private final List<Passage> passages = new ArrayList<>();

    /** When each node took a signal that its own doorbell had not caused, in order. */
    private final Map<Integer, List<Double>> heard = new HashMap<>();

    /** @param server number of the server's process */
    Passages(List<TraceEvent> events, int server) {
        this.events = events;
        this.server = server;
        this.wiring = new Wiring(events, server);
        for (int i = 0; i < events.size(); i++) {
            event(i, events.get(i));
        }
    }

    /** All doorbells that made the server's thread signal another node, in the order of these signals. */
    List<Passage> all() {
        return passages;
    }

    /** Whether a node took a signal between the two times that its own doorbell had not caused. */
    boolean hears(int node, double after, double before) {
        return heard.getOrDefault(node, List.of()).stream().anyMatch(t -> t > after && t < before);
    }

    private void event(int i, TraceEvent e) {
        switch (e.kind()) {
            case SEND -> {
                int thread = wiring.receiver(e);
                if (thread >= 0) {
                    rung.computeIfAbsent(thread, t -> new ArrayList<>()).add(i);
                }
            }
            case RECEIVED -> {
                if (e.process() == server) {
                    List<Integer> doorbells = rung.remove(e.thread());
                    receipts.put(e.thread(), new Receipt(i, doorbells == null ? List.of() : doorbells));
                }
            }
            case SIGNAL -> {
                int node = wiring.target(e);
                if (node >= 0) {
                    signals.computeIfAbsent(node, n -> new ArrayList<>())
                            .add(signal(i, receipts.get(e.thread()), node));
                }
            }
            case TAKEN -> taken(i, e);
            case WOKEN, RUNS -> {}
        }
    }

    private Signal signal(int i, Receipt receipt, int node) {
        if (receipt == null || receipt.doorbells.isEmpty()) {
            return new Signal(null, false);
        }
        boolean own = events.get(receipt.doorbells.getLast()).process() == node;
        if (own || receipt.passage != null) {
            return new Signal(null, own);
        }
        receipt.passage = new Passage(events, receipt.doorbells, receipt.at, i);
        passages.add(receipt.passage);
        return new Signal(receipt.passage, false);
    }

    private void taken(int i, TraceEvent e) {
        List<Signal> taken = signals.remove(e.process());
        if (taken == null) {
            return;
        }
        // One of its own beside that of a passage changes nothing: both are taken now, and neither was before.
        List<Signal> others = taken.stream().filter(s -> !s.own).toList();
        for (Signal s : others) {
            if (s.passage != null) {
                s.passage.taken(i, others.size() == 1);
            }
        }
        if (!others.isEmpty()) {
            heard.computeIfAbsent(e.process(), n -> new ArrayList<>()).add(e.micros());
        }
    }
}
