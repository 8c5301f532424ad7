// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One ping as its guest saw it.
 *
 * @param ended when the answer was there, microseconds of the guest's clock
 * @param micros how long it took
 */
record Ping(double ended, double micros) {
    private static final Pattern LINE = Pattern.compile("^\\[([0-9.]+)\\] .*time=([0-9.]+) ms", Pattern.MULTILINE);

    /** Farther apart than this a ping and a round trip of a trace are not the same one: half of the pause between pings. */
    private static final double SAME_MICROS = 2500;

    /** How much of a difference the clocks are taken to have drifted apart: the rest is when the line happened to be printed. */
    private static final double DRIFT = 1 / 8.0;

    /** Those of the output of {@code ping -D}. */
    static List<Ping> parse(String output) {
        List<Ping> pings = new ArrayList<>();
        for (Matcher m = LINE.matcher(output); m.find(); ) {
            pings.add(new Ping(Double.parseDouble(m.group(1)) * 1e6, Double.parseDouble(m.group(2)) * 1000));
        }
        return pings;
    }

    /**
     * Finds out which round trip of a trace is which ping, and returns those that are one, lasting as long as the guest says.
     * The two clocks have nothing in common but that they go about equally fast: the pings begin where the pauses between
     * them fit those between the round trips best. A ping during which another one was under way is left out, as is a round
     * trip that no ping is as long as.
     */
    static List<RoundTrip> match(List<RoundTrip> trips, List<Ping> pings) {
        List<RoundTrip> best = List.of();
        double least = Double.MAX_VALUE;
        for (int first = 1 - trips.size(); first < pings.size(); first++) {
            List<RoundTrip> matched = new ArrayList<>();
            double error = align(trips.subList(Math.max(0, -first), trips.size()), pings, Math.max(0, first), matched);
            if (matched.size() > best.size() || (matched.size() == best.size() && error < least)) {
                best = matched;
                least = error;
            }
        }
        return best;
    }

    /** Takes the first round trip for that ping; returns by how much the pauses after it differ in all. */
    private static double align(List<RoundTrip> trips, List<Ping> pings, int first, List<RoundTrip> matched) {
        double offset = pings.get(first).ended - trips.getFirst().end();
        double error = 0;
        int p = first;
        int taken = -1;
        for (RoundTrip trip : trips) {
            double expected = trip.end() + offset;
            while (p + 1 < pings.size()
                    && Math.abs(pings.get(p + 1).ended - expected) <= Math.abs(pings.get(p).ended - expected)) {
                p++;
            }
            double difference = pings.get(p).ended - expected;
            if (Math.abs(difference) < SAME_MICROS && p != taken) {
                if (isAlone(pings, p) && trip.end() - trip.begin() <= pings.get(p).micros) {
                    matched.add(trip.lasting(pings.get(p).micros));
                }
                taken = p;
                offset += difference * DRIFT;
            }
            error += Math.min(Math.abs(difference), SAME_MICROS);
        }
        return error;
    }

    /** Whether it began after the one before had ended, and ended before the one after began. */
    private static boolean isAlone(List<Ping> pings, int i) {
        return (i == 0 || pings.get(i - 1).ended < pings.get(i).began())
                && (i + 1 == pings.size()
                        || pings.get(i).ended < pings.get(i + 1).began());
    }

    private double began() {
        return ended - micros;
    }
}
