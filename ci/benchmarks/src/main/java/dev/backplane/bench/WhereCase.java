// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.Execution;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the time of a ping and of a PUT goes, step by step; the steps add up to the round trip that the guest sees. */
final class WhereCase implements Case {
    private static final Pattern AVERAGE = Pattern.compile("= [0-9.]+/([0-9.]+)/");
    private static final int RING = 41;

    @Override
    public String name() {
        return "where";
    }

    @Override
    public String doc() {
        return "where the time of a ping and of a PUT by interrupt goes: system calls, wake-ups, server, guests (mean)";
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
        List<Measure> all = new ArrayList<>();
        ping(guests, 100);
        all.add(follow("ping there and back, all", guests, () -> ping(guests, count)));
        put(guests, 100);
        // One after the other without a pause, so that the trace knows all of it.
        all.add(follow("64-byte PUT there and back by interrupt, those with two doorbells", guests, () -> {
            put(guests, count);
            return Double.NaN;
        }));
        return all;
    }

    /** Follows what {@code run} does, which returns the mean round trip if there were pauses between them. */
    private static Measure follow(String name, GuestPair guests, DoubleSupplier run) {
        Measure measure = new Measure(name, "µs", false).independent();
        try (HostTrace trace = new HostTrace(
                guests.guest(1).pid(),
                guests.guest(2).pid(),
                guests.cluster().server().pid())) {
            double all = run.getAsDouble();
            Journey j = Journey.follow(trace.stop());
            if (j.trips() == 0) {
                throw new IllegalStateException("no round trip of a " + name + " is in the trace");
            }
            double known = 0;
            for (Journey.Step step : Journey.Step.values()) {
                boolean rest = step == Journey.Step.GUEST1 && !Double.isNaN(all);
                double mean = rest ? all - known : j.mean(step);
                known += mean;
                measure.add(step.toString(), mean);
            }
            measure.add("all of it (mean of " + j.trips() + ")", known);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return measure;
    }

    /** Mean in microseconds. */
    private static double ping(GuestPair guests, int count) {
        String out = guests.guest(1)
                .exec("ping -q -i 0.005 -c " + count + " " + Way.BACKPLANE.address(2), Duration.ofMinutes(3))
                .ok()
                .out();
        Matcher m = AVERAGE.matcher(out);
        if (!m.find()) {
            throw new IllegalStateException("ping gives no average: " + out);
        }
        return Double.parseDouble(m.group(1)) * 1000;
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
