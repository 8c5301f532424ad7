// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/** Round-trip time of a ping between the guests. */
final class PingCase implements Case {
    private static final Pattern TIME = Pattern.compile("time=([0-9.]+) ms");

    @Override
    public String name() {
        return "ping";
    }

    @Override
    public String doc() {
        return "ping round-trip time, one at a time, beside the same as tcp";
    }

    @Override
    public List<Measure> run(Context context) {
        return measure(context, context.guests(), context.guests().ways());
    }

    static List<Measure> measure(Context context, GuestPair guests, Way[] ways) {
        Measure median = new Measure("ping, median", "µs", false);
        Measure p99 = new Measure("ping, p99", "µs", false);
        Measure least = new Measure("ping, least", "µs", false);
        int count = context.choose(200, 1000);
        Interleave.rounds(context, ways, (way, counted) -> {
            String out = guests.guest(1)
                    .exec("ping -i 0.005 -c " + count + " " + way.address(2), Duration.ofMinutes(3))
                    .ok()
                    .out();
            if (counted) {
                Histogram h = new Histogram(3);
                for (Matcher m = TIME.matcher(out); m.find(); ) {
                    h.recordValue(Math.round(Double.parseDouble(m.group(1)) * 1000));
                }
                median.add(way.label(), (double) h.getValueAtPercentile(50));
                p99.add(way.label(), (double) h.getValueAtPercentile(99));
                least.add(way.label(), (double) h.getMinValue());
            }
        });
        return List.of(median, p99, least);
    }
}
