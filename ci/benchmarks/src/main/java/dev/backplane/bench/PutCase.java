// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** A 64-byte message from process to process and back, beside a ping between the same guests. */
final class PutCase implements Case {
    private static final int RING = 40;

    @Override
    public String name() {
        return "put";
    }

    @Override
    public String doc() {
        return "64-byte PUT there and back between two processes (bp-pingpong), polling and by interrupt";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure median = new Measure("64-byte PUT there and back, median", "µs", false);
        Measure p99 = new Measure("64-byte PUT there and back, p99", "µs", false);
        Measure rate = new Measure("64-byte PUT there and back, one at a time", "round trips/s", true);
        Interleave.rounds(context, new String[] {"poll", "interrupt"}, (mode, counted) -> {
            int count = mode.equals("poll") ? context.choose(10_000, 50_000) : context.choose(1000, 5000);
            String out = context.guests()
                    .serverAndClient(
                            "bp-pingpong --server --ring " + RING + " --" + mode,
                            "ring " + RING,
                            "bp-pingpong --client --node 2 --json --size 64 --ring " + RING + " --count " + count
                                    + " --" + mode);
            if (counted) {
                JsonNode result = TcpCase.json(out);
                median.add(mode, result.at("/round_trip_us/p50").asDouble());
                p99.add(mode, result.at("/round_trip_us/p99").asDouble());
                rate.add(mode, result.path("round_trips_per_s").asDouble());
            }
        });
        return List.of(median, p99, rate);
    }
}
