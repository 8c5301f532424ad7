// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import static dev.backplane.bench.Journey.NODE1;
import static dev.backplane.bench.Journey.NODE2;
import static dev.backplane.bench.Journey.SERVER;

import dev.backplane.bench.TraceEvent.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A trace that is made up, in any order; each node has one thread and one thread of the server that serves it. */
final class TraceScript {
    private static final int DEVICE = 20;
    private static final int AGENT = 21;
    private static final int WORKER = 210;
    private static final long INTERRUPT = 0x7f00_0000_1000L;

    private final List<TraceEvent> events = new ArrayList<>();

    /** In order of time. */
    List<TraceEvent> events() {
        return events.stream()
                .sorted(Comparator.comparingDouble(TraceEvent::micros))
                .toList();
    }

    private static int qemu(int node) {
        return 100 + node;
    }

    private static int serves(int node) {
        return 200 + node;
    }

    private static int other(int node) {
        return NODE1 + NODE2 - node;
    }

    private TraceScript event(Kind kind, int process, int thread, long detail, double micros) {
        events.add(new TraceEvent(kind, process, thread, detail, micros));
        return this;
    }

    /** A message to the server, without anything that comes of it. */
    TraceScript send(int node, double at) {
        return event(Kind.SEND, node, qemu(node), DEVICE, at);
    }

    /** A doorbell that the server receives 35 microseconds later: 10 to the wake-up, 20 until it runs, 5. */
    TraceScript doorbellReceived(int node, double at) {
        send(node, at);
        event(Kind.WOKEN, SERVER, serves(node), qemu(node), at + 10);
        event(Kind.RUNS, SERVER, serves(node), 0, at + 30);
        return event(Kind.RECEIVED, SERVER, serves(node), 0, at + 35);
    }

    /** The thread that serves one node signals the other, whose QEMU is awake. */
    TraceScript signal(int node, double at) {
        return event(Kind.SIGNAL, SERVER, serves(node), INTERRUPT + other(node), at);
    }

    /** The thread that serves a node signals that one itself, and wakes its QEMU, which takes it 10 microseconds later. */
    TraceScript signalOwn(int node, double at) {
        signalOwnWithoutWaking(node, at);
        event(Kind.WOKEN, node, qemu(node), serves(node), at);
        return take(node, at + 10);
    }

    /** The thread that serves a node signals that one itself, whose QEMU does not take it yet. */
    TraceScript signalOwnWithoutWaking(int node, double at) {
        return event(Kind.SIGNAL, SERVER, serves(node), INTERRUPT + node, at);
    }

    /** A thread that serves nobody in particular signals a node, whose QEMU is awake. */
    TraceScript signalByWorker(int node, double at) {
        return event(Kind.SIGNAL, SERVER, WORKER, INTERRUPT + node, at);
    }

    /** The node's QEMU takes a signal. */
    TraceScript take(int node, double at) {
        return event(Kind.TAKEN, node, qemu(node), 0, at);
    }

    /** From that node to the other one in 100 microseconds: 10, 20, 5, 30, 15, 20. */
    TraceScript oneWay(int from, double at) {
        int to = other(from);
        doorbellReceived(from, at).signal(from, at + 65);
        event(Kind.WOKEN, to, qemu(to), serves(from), at + 65);
        event(Kind.RUNS, to, qemu(to), 0, at + 80);
        return take(to, at + 100);
    }

    /** What the guest's agent says leaves QEMU by another socket. */
    TraceScript agentSpeaks(int node, double at) {
        return event(Kind.SEND, node, qemu(node), AGENT, at);
    }

    /** The thread that serves the node is woken by whatever interrupts its QEMU just then. */
    TraceScript serverWoken(int node, double at) {
        return event(Kind.WOKEN, SERVER, serves(node), qemu(node), at);
    }
}
