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
