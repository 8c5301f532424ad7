// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import static dev.backplane.bench.Journey.NODE1;
import static dev.backplane.bench.Journey.NODE2;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.bench.RoundTrip.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Round trips in a trace: each starts 5 ms after the one before, is answered after 300 µs, and over after 400 µs. */
class JourneyTest {
    private static final double EVERY = 5000;

    private final TraceScript trace = new TraceScript();

    private void roundTrip(double at) {
        trace.oneWay(NODE1, at).oneWay(NODE2, at + 300);
    }

    private void assertTrips(double... begins) {
        List<RoundTrip> trips = Journey.follow(trace.events());
        assertEquals(
                java.util.Arrays.stream(begins).boxed().toList(),
                trips.stream().map(RoundTrip::begin).toList());
        for (RoundTrip trip : trips) {
            assertEquals(trip.begin() + 400, trip.end());
            assertEquals(60, trip.steps().get(Step.SERVE));
            assertEquals(200, trip.steps().get(Step.GUEST2));
        }
    }

    @Test
    void stepsAddUp() {
        for (int i = 0; i < 3; i++) {
            roundTrip(1000 * i);
        }
        List<RoundTrip> trips = Journey.follow(trace.events());
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
    void doorbellThatSignalsNobodyIsNone() {
        for (int i = 0; i < 4; i++) {
            trace.oneWay(NODE1, EVERY * i).doorbellReceived(NODE2, EVERY * i + 150);
            trace.oneWay(NODE2, EVERY * i + 300).doorbellReceived(NODE1, EVERY * i + 450);
        }
        assertTrips(0, EVERY, 2 * EVERY);
    }

    /** QEMU sends what the guest's agent says on another socket; a timer may wake the server's thread meanwhile. */
    @Test
    void sendingElsewhereIsNoDoorbell() {
        for (int i = 0; i < 4; i++) {
            roundTrip(EVERY * i);
            trace.agentSpeaks(NODE1, EVERY * i + 180).agentSpeaks(NODE1, EVERY * i + 420);
        }
        trace.serverWoken(NODE1, EVERY + 421);
        assertTrips(0, EVERY, 2 * EVERY);
    }

    /** Node1's QEMU reads event descriptors of its own while the answer is awaited: they are no interrupts, and not here. */
    @Test
    void signalIsTakenByWhoIsAwake() {
        roundTrip(0);
        trace.doorbellReceived(NODE1, EVERY).signal(NODE1, EVERY + 65).take(NODE2, EVERY + 70);
        trace.oneWay(NODE2, EVERY + 300);
        roundTrip(2 * EVERY);
        List<RoundTrip> trips = Journey.follow(trace.events());
        assertEquals(2, trips.size());
        assertEquals(15, trips.get(1).steps().get(Step.QEMU_WAKE), "the answer's alone");
        assertEquals(25, trips.get(1).steps().get(Step.TAKE));
        assertEquals(230, trips.get(1).steps().get(Step.GUEST2));
        assertEquals(EVERY, trips.get(1).total());
    }

    /** The device still looks at node2's ring: the answer goes without a doorbell, through a thread that nobody rang. */
    @Test
    void answerWithoutDoorbellIsLeftOut() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).signalByWorker(NODE1, EVERY + 300).take(NODE1, EVERY + 320);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(0, 2 * EVERY);
    }

    /**
     * Node2 polls when the question comes: no signal, no interrupt, but a doorbell for its answer. It is a second answer to
     * the question before, for all that is known, so that one is left out, too.
     */
    @Test
    void questionWithoutInterruptIsLeftOut() {
        roundTrip(0);
        trace.doorbellReceived(NODE1, EVERY).oneWay(NODE2, EVERY + 300);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(2 * EVERY);
    }

    /** Node1 polls when the answer comes. */
    @Test
    void answerWithoutInterruptIsLeftOut() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).doorbellReceived(NODE2, EVERY + 300);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        roundTrip(4 * EVERY);
        assertTrips(0, 3 * EVERY);
    }

    /** The signal is sent, and taken only together with the next question's. */
    @Test
    void signalsTakenTogetherAreLeftOut() {
        roundTrip(0);
        trace.doorbellReceived(NODE1, EVERY).signal(NODE1, EVERY + 65);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        roundTrip(4 * EVERY);
        assertTrips(0, 3 * EVERY);
    }

    /** A question is asked before the one before is answered: whose answer is whose cannot be told. */
    @Test
    void overlappingOnesAreLeftOut() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).oneWay(NODE1, EVERY + 150);
        trace.oneWay(NODE2, EVERY + 300).oneWay(NODE2, EVERY + 450);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(0, 2 * EVERY);
    }

    /** Both are answered at once. */
    @Test
    void overlappingOnesWithOneAnswerAreLeftOut() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).oneWay(NODE1, EVERY + 150).oneWay(NODE2, EVERY + 300);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(0, 2 * EVERY);
    }

    /** The server receives two doorbells at once: which of them mattered cannot be told. */
    @Test
    void doorbellsReceivedTogetherAreLeftOut() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).send(NODE2, EVERY + 290).oneWay(NODE2, EVERY + 300);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(0, 2 * EVERY);
    }

    /** A PUT's end is told to who did it, too, before or after the other one is signalled. */
    @Test
    void signalToOneselfIsNone() {
        for (int i = 0; i < 4; i++) {
            roundTrip(EVERY * i);
            trace.signalOwn(NODE1, EVERY * i + 40).signalOwn(NODE2, EVERY * i + 370);
        }
        assertTrips(0, EVERY, 2 * EVERY);
    }

    /** Node1 is told of its own PUT's end only, and asks again: nothing has told it of an answer. */
    @Test
    void signalToOneselfIsNoAnswer() {
        roundTrip(0);
        trace.oneWay(NODE1, EVERY).signalOwn(NODE1, EVERY + 105);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        roundTrip(4 * EVERY);
        assertTrips(0, 3 * EVERY);
    }

    /** Node1 takes the answer's signal together with that of the end of its own PUT, which has waited since. */
    @Test
    void signalTakenWithOnesOwnIsFollowed() {
        for (int i = 0; i < 4; i++) {
            roundTrip(EVERY * i);
            trace.signalOwnWithoutWaking(NODE1, EVERY * i + 40);
        }
        assertTrips(0, EVERY, 2 * EVERY);
    }

    /** Node2 takes the question's signal together with one that nobody knows the cause of. */
    @Test
    void signalTakenWithAnotherIsLeftOut() {
        roundTrip(0);
        roundTrip(EVERY);
        trace.signalByWorker(NODE2, EVERY + 90);
        roundTrip(2 * EVERY);
        roundTrip(3 * EVERY);
        assertTrips(0, 2 * EVERY);
    }

    @Test
    void whatHasNoAnswerIsNoRoundTrip() {
        trace.oneWay(NODE1, 0).oneWay(NODE1, 50_000).oneWay(NODE1, 100_000);
        assertTrue(Journey.follow(trace.events()).isEmpty());
    }

    @Test
    void answerThatTakesTooLongIsLeftOut() {
        trace.oneWay(NODE1, 0).oneWay(NODE2, 30_000);
        roundTrip(50_000);
        roundTrip(60_000);
        assertTrips(50_000);
    }
}
