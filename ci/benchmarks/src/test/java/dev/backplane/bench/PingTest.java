// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.bench.RoundTrip.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which round trip of a trace is which ping. */
class PingTest {
    @Test
    void timesAreThoseOfTheLines() {
        String output = """
                PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
                [1764550000.250000] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.25 ms
                [1764550000.256000] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.731 ms

                --- 10.0.0.2 ping statistics ---
                """;
        List<Ping> pings = Ping.parse(output);
        assertEquals(List.of(new Ping(1764550000.25e6, 1250), new Ping(1764550000.256e6, 731)), pings);
    }

    /** Pauses vary, some pings are not in the trace, and one clock is fast: what is left for node1 is right all the same. */
    @Test
    void roundTripsAreMatchedByTheirPauses() {
        Random random = new Random(9);
        List<RoundTrip> trips = new ArrayList<>();
        List<Ping> pings = new ArrayList<>();
        List<Double> own = new ArrayList<>();
        double time = 5000;
        for (int i = 0; i < 300; i++) {
            time += 5000 + random.nextInt(800);
            double span = 400 + random.nextInt(300);
            double guest1 = 100 + random.nextInt(100);
            pings.add(new Ping(1e15 + time * 1.0002 + random.nextInt(50), span + guest1));
            if (i >= 3 && random.nextInt(10) != 0) {
                trips.add(new RoundTrip(time - span, time, Map.of(Step.SERVE, span, Step.GUEST1, 0.0)));
                own.add(guest1);
            }
        }
        List<RoundTrip> matched = Ping.match(trips, pings);
        assertEquals(trips.size(), matched.size());
        for (int i = 0; i < matched.size(); i++) {
            assertEquals(own.get(i), matched.get(i).steps().get(Step.GUEST1), 0.01);
            assertEquals(trips.get(i).end(), matched.get(i).end());
        }
    }

    private static RoundTrip trip(double begin, double end) {
        return new RoundTrip(begin, end, Map.of(Step.SERVE, end - begin, Step.GUEST1, 0.0));
    }

    /** The fourth takes so long that the fifth begins meanwhile. */
    @Test
    void pingsThatOverlapAreLeftOut() {
        List<RoundTrip> trips = new ArrayList<>();
        List<Ping> pings = new ArrayList<>();
        double[] pauses = {5100, 5300, 4900, 9500, 1200, 5200, 5600};
        double time = 0;
        for (int i = 0; i < pauses.length; i++) {
            time += pauses[i];
            boolean slow = i == 3;
            trips.add(trip(time - (slow ? 5000 : 500), time));
            pings.add(new Ping(time + 7e8, slow ? 5400 : i == 4 ? 1300 : 900));
        }
        List<RoundTrip> matched = Ping.match(trips, pings);
        assertEquals(5, matched.size());
        assertEquals(
                List.of(trips.get(0), trips.get(1), trips.get(2), trips.get(5), trips.get(6)).stream()
                        .map(RoundTrip::end)
                        .toList(),
                matched.stream().map(RoundTrip::end).toList());
        matched.forEach(t -> assertEquals(400, t.steps().get(Step.GUEST1), 0.01));
    }

    /** Other frames are answered, too; and what took longer in the trace than the ping did is something else. */
    @Test
    void roundTripsOfOtherFramesAreLeftOut() {
        List<RoundTrip> trips = new ArrayList<>(List.of(trip(1000, 1300), trip(2000, 2200)));
        List<Ping> pings = new ArrayList<>();
        double[] pauses = {5100, 5300, 4900, 5500, 5000};
        double time = 5000;
        for (double pause : pauses) {
            time += pause;
            pings.add(new Ping(time, 800));
            trips.add(trip(time - (pause == 4900 ? 900 : 500), time));
        }
        List<RoundTrip> matched = Ping.match(trips, pings);
        assertEquals(4, matched.size());
        matched.forEach(t -> assertEquals(300, t.steps().get(Step.GUEST1), 0.01));
    }

    @Test
    void middleHalfIsThatOfTheDurations() {
        List<RoundTrip> trips = new ArrayList<>();
        for (int i = 1; i <= 8; i++) {
            trips.add(new RoundTrip(0, 0, Map.of(Step.SERVE, (double) (i * 5 % 8), Step.TAKE, 1.0)));
        }
        assertEquals(
                List.of(3.0, 4.0, 5.0, 6.0),
                RoundTrip.middle(trips).stream().map(RoundTrip::total).toList());
    }
}
