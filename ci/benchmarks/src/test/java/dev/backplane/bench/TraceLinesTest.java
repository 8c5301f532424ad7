// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import static dev.backplane.bench.Journey.NODE1;
import static dev.backplane.bench.Journey.NODE2;
import static dev.backplane.bench.Journey.SERVER;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.bench.RoundTrip.Step;
import dev.backplane.bench.TraceEvent.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A trace that a kernel has printed. */
class TraceLinesTest {
    private static final double MICRO = 0.1;

    /** The eventfd of the guest's agent is 0x21, that of the interrupt 0x6c. */
    private static final List<Set<Integer>> INTERRUPTS = List.of(Set.of(0x6c), Set.of(0x6c), Set.of());

    private static final Map<Integer, Integer> PROCESSES =
            Map.of(20084, NODE1, 20092, NODE1, 20098, NODE2, 20105, NODE2, 20095, SERVER, 20108, SERVER);

    private static List<TraceEvent> events() throws IOException {
        try (InputStream in = TraceLinesTest.class.getResourceAsStream("/three-pings.trace")) {
            String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            return new TraceLines(PROCESSES, INTERRUPTS).read(text.lines().toList());
        }
    }

    private static long count(List<TraceEvent> events, Kind kind) {
        return events.stream().filter(e -> e.kind() == kind).count();
    }

    @Test
    void eventsAreThoseOfTheLines() throws IOException {
        List<TraceEvent> events = events();
        assertEquals(9, count(events, Kind.SEND), "six doorbells, and three lines by the agent");
        assertEquals(6, count(events, Kind.RECEIVED));
        assertEquals(9, count(events, Kind.SIGNAL), "six interrupts, and three of QEMU's own");
        assertEquals(6, count(events, Kind.TAKEN));
        TraceEvent first =
                events.stream().filter(e -> e.kind() == Kind.TAKEN).findFirst().orElseThrow();
        assertEquals(NODE2, first.process());
        assertEquals(20098, first.thread());
        assertEquals(13229200159.0, first.micros(), MICRO);
    }

    @Test
    void whatOthersDoAndWhatFailsIsLeftOut() {
        List<TraceEvent> events = new TraceLines(PROCESSES, INTERRUPTS)
                .read(List.of(
                        " java-7 [000] ..... 1.000001: sys_sendmsg(fd: 11, msg: 7f, flags: 0)",
                        " java-7 [000] d..3. 1.000002: sched_waking: comm=q pid=20098 prio=120 target_cpu=000",
                        " java-7 [000] d..2. 1.000003: sched_switch: prev_pid=7 ==> next_comm=x next_pid=8 next_prio=120",
                        " vfio-20095 [000] ..... 1.000004: sys_recvmsg -> 0xfffffffffffffff5",
                        " q-20098 [000] ..... 1.000005: sys_read(fd: 6c, buf: 7f, count: 200)",
                        " q-20098 [000] ..... 1.000006: sys_read -> 0xfffffffffffffff5"));
        assertEquals(List.of(new TraceEvent(Kind.WOKEN, NODE2, 20098, -1, 1000002)), events);
    }

    @Test
    void pingsAreFollowedThroughIt() throws IOException {
        List<RoundTrip> trips = Journey.follow(events());
        assertEquals(2, trips.size(), "after the third nothing follows");
        RoundTrip first = trips.getFirst();
        assertEquals(13229199894.0, first.begin(), MICRO);
        assertEquals(13229201146.0, first.end(), MICRO);
        assertEquals(14 + 8, first.steps().get(Step.SEND), MICRO);
        assertEquals(15 + 9, first.steps().get(Step.SERVER_WAKE), MICRO);
        assertEquals(12 + 10, first.steps().get(Step.RECEIVE), MICRO);
        assertEquals(52 + 32, first.steps().get(Step.SERVE), MICRO);
        assertEquals(143 + 22, first.steps().get(Step.QEMU_WAKE), MICRO);
        assertEquals(29 + 20, first.steps().get(Step.TAKE), MICRO);
        assertEquals(886, first.steps().get(Step.GUEST2), MICRO);
        assertEquals(1400, first.lasting(1400).total(), MICRO);
        RoundTrip second = trips.getLast();
        assertEquals(13229205350.0, second.begin(), MICRO);
        assertEquals(13229206333.0, second.end(), MICRO);
    }
}
