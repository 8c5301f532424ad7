// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.Execution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Where the time of a ping and of a PUT goes, step by step: means over the half of the round trips in the middle, so that
 * the steps add up to what the guest sees of these.
 */
final class WhereCase implements Case {
    private static final int RING = 41;

    @Override
    public String name() {
        return "where";
    }

    @Override
    public String doc() {
        return "where the time of a ping and of a PUT by interrupt goes: system calls, wake-ups, server, guests";
    }

    @Override
    public List<Measure> run(Context context) {
        String obstacle = HostTrace.obstacle();
        if (obstacle != null) {
            context.missing("where the time goes", obstacle);
            return List.of();
        }
        GuestPair guests = context.guests();
        int count = context.choose(500, 2000);
        // The server's code is compiled before anything is followed.
        int warmUp = context.choose(5000, 20_000);
        List<Measure> all = new ArrayList<>();
        ping(guests, "-q -f -c " + warmUp);
        all.add(table(context, "ping", count, () -> Ping.parse(ping(guests, "-D -i 0.005 -c " + count))));
        put(guests, warmUp);
        all.add(table(context, "64-byte PUT by interrupt", count, () -> {
            put(guests, count);
            return List.of(); // one after the other without a pause: all of it is in the trace
        }));
        return all;
    }

    /** Follows what {@code run} does, which returns the pings that it made if there were pauses between them. */
    private static Measure table(Context context, String name, int count, Supplier<List<Ping>> run) {
        GuestPair guests = context.guests();
        try (HostTrace trace = new HostTrace(
                List.of(guests.guest(1).pid(), guests.guest(2).pid()),
                guests.cluster().server().pid())) {
            List<Ping> pings = run.get();
            List<RoundTrip> trips = Journey.follow(trace.stop(context.trace(name)));
            if (!pings.isEmpty()) {
                trips = Ping.match(trips, pings);
            }
            if (trips.isEmpty()) {
                throw new IllegalStateException("no " + name + " can be followed through the trace");
            }
            List<RoundTrip> middle = RoundTrip.middle(trips);
            String label = "%s there and back, %d in the middle of %d; %d of %d could not be followed"
                    .formatted(name, middle.size(), trips.size(), count - trips.size(), count);
            Measure measure = new Measure(label, "µs", false).independent();
            for (RoundTrip.Step step : RoundTrip.Step.values()) {
                measure.add(step.toString(), mean(middle, t -> t.steps().get(step)));
            }
            measure.add("all of it", mean(middle, RoundTrip::total));
            return measure;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double mean(List<RoundTrip> trips, ToDoubleFunction<RoundTrip> of) {
        return trips.stream().mapToDouble(of).average().orElseThrow();
    }

    private static String ping(GuestPair guests, String options) {
        return guests.guest(1)
                .exec("ping " + options + " " + Way.BACKPLANE.address(2), Duration.ofMinutes(3))
                .ok()
                .out();
    }

    private static void put(GuestPair guests, int count) {
        Execution server = guests.guest(2).start("bp-pingpong --server --interrupt --ring " + RING);
        server.awaitOutput("ring " + RING, Duration.ofMinutes(1));
        guests.guest(1)
                .exec(
                        "bp-pingpong --client --interrupt --node 2 --ring " + RING + " --count " + count,
                        Duration.ofMinutes(3))
                .ok();
        if (!server.ended()) {
            server.kill(15);
        }
    }
}
