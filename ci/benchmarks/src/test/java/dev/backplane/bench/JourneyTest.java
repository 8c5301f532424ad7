// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import static dev.backplane.bench.Journey.NODE1;
import static dev.backplane.bench.Journey.NODE2;
import static dev.backplane.bench.Journey.SERVER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.bench.HostTrace.Event;
import dev.backplane.bench.HostTrace.Kind;
import dev.backplane.bench.RoundTrip.Step;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Round trips in a trace. */
class JourneyTest {
    private final List<Event> events = new ArrayList<>();

    private void event(Kind kind, int process, int by, double micros) {
        events.add(new Event(kind, process, 100 + process, by, micros));
    }

    /** One way of 100 microseconds: 10, 20, 5, 30, 15, 20. */
    private void oneWay(int from, int to, double at) {
        event(Kind.SEND, from, from, at);
        event(Kind.WOKEN, SERVER, from, at + 10);
        event(Kind.RUNS, SERVER, -1, at + 30);
        event(Kind.RECEIVED, SERVER, SERVER, at + 35);
        event(Kind.WOKEN, to, SERVER, at + 65);
        event(Kind.RUNS, to, -1, at + 80);
        event(Kind.SIGNALLED, to, to, at + 100);
    }

    @Test
    void stepsAddUp() {
        for (int i = 0; i < 3; i++) {
            oneWay(NODE1, NODE2, 1000 * i);
            oneWay(NODE2, NODE1, 1000 * i + 300);
        }
        List<RoundTrip> trips = Journey.follow(events);
        assertEquals(2, trips.size(), "after the last one nothing tells when node1 was done");
        RoundTrip first = trips.getFirst();
        assertEquals(20, first.steps().get(Step.SEND));
        assertEquals(40, first.steps().get(Step.SERVER_WAKE));
        assertEquals(10, first.steps().get(Step.RECEIVE));
        assertEquals(60, first.steps().get(Step.SERVE));
        assertEquals(30, first.steps().get(Step.QEMU_WAKE));
        assertEquals(40, first.steps().get(Step.TAKE));
        assertEquals(200, first.steps().get(Step.GUEST2));
        assertEquals(600, first.steps().get(Step.GUEST1));
        assertEquals(1000, first.total());
        assertEquals(450, first.lasting(450).total());
    }

    /** Buffers are given back with a doorbell that signals nobody. */
    @Test
    void roundTripBeginsWithItsOwnDoorbell() {
        for (int i = 0; i < 3; i++) {
            oneWay(NODE1, NODE2, 5000 * i);
            event(Kind.SEND, NODE2, NODE2, 5000 * i + 200);
            event(Kind.RECEIVED, SERVER, SERVER, 5000 * i + 210);
            oneWay(NODE2, NODE1, 5000 * i + 300);
            event(Kind.SEND, NODE1, NODE1, 5000 * i + 500);
            event(Kind.RECEIVED, SERVER, SERVER, 5000 * i + 510);
        }
        List<RoundTrip> trips = Journey.follow(events);
        assertEquals(3, trips.size());
        for (int i = 0; i < 3; i++) {
            assertEquals(5000 * i, trips.get(i).begin());
            assertEquals(5000 * i + 400, trips.get(i).end());
            assertEquals(60, trips.get(i).steps().get(Step.SERVE));
            assertEquals(200, trips.get(i).steps().get(Step.GUEST2));
        }
    }

    @Test
    void whatHasNoAnswerIsNoRoundTrip() {
        oneWay(NODE1, NODE2, 0);
        oneWay(NODE1, NODE2, 50_000);
        assertTrue(Journey.follow(events).isEmpty());
    }
}
