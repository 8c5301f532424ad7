// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.TraceEvent.Kind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What is connected to what, as far as a trace tells: a call wakes who waits for it. Which of the guests' sockets is served
 * by which of the server's threads (a QEMU has others, such as that of the guest's agent), and whose interrupt it is that
 * the server signals.
 */
final class Wiring {
    /** What a thread did last: sent on a socket of its process, or signalled an event descriptor. */
    private record Call(Kind kind, int process, long detail) {}

    private final int server;
    private final Map<Call, Integer> receivers = new HashMap<>();
    private final Map<Call, Integer> targets = new HashMap<>();

    /** @param server number of the server's process */
    Wiring(Iterable<TraceEvent> events, int server) {
        this.server = server;
        Set<Integer> receiving = new HashSet<>();
        Map<Integer, Call> latest = new HashMap<>();
        Map<Integer, Map<Call, Integer>> wakers = new HashMap<>();
        Map<Call, Map<Integer, Integer>> woken = new HashMap<>();
        for (TraceEvent e : events) {
            switch (e.kind()) {
                case SEND, SIGNAL -> latest.put(e.thread(), call(e));
                case RECEIVED -> {
                    if (e.process() == server) {
                        receiving.add(e.thread());
                    }
                }
                case WOKEN -> {
                    Call call = latest.get((int) e.detail());
                    if (isOf(call, Kind.SEND) && call.process != server && e.process() == server) {
                        count(wakers, e.thread(), call);
                    } else if (isOf(call, Kind.SIGNAL) && call.process == server && e.process() != server) {
                        count(woken, call, e.process());
                    }
                }
                case TAKEN, RUNS -> {}
            }
        }
        // A timer may wake somebody else during a call: what happens most often counts.
        wakers.keySet().retainAll(receiving);
        wakers.forEach((thread, calls) -> receivers.put(most(calls), thread));
        woken.forEach((call, processes) -> targets.put(call, most(processes)));
    }

    /** The server's thread that receives what is sent in a {@link Kind#SEND}, or -1. */
    int receiver(TraceEvent send) {
        return receivers.getOrDefault(call(send), -1);
    }

    /** The process whose interrupt a {@link Kind#SIGNAL} of the server is, or -1. */
    int target(TraceEvent signal) {
        return signal.process() == server ? targets.getOrDefault(call(signal), -1) : -1;
    }

    private static Call call(TraceEvent e) {
        return new Call(e.kind(), e.process(), e.detail());
    }

    private static boolean isOf(Call call, Kind kind) {
        return call != null && call.kind == kind;
    }

    private static <K, V> void count(Map<K, Map<V, Integer>> counts, K key, V value) {
        counts.computeIfAbsent(key, k -> new HashMap<>()).merge(value, 1, Integer::sum);
    }

    private static <V> V most(Map<V, Integer> counts) {
        return counts.entrySet().stream()
                .max(Comparator.comparingInt(Map.Entry::getValue))
                .orElseThrow()
                .getKey();
    }
}
