// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A 64-byte message from process to process and back, beside a ping between the same guests. */
final class PutCase implements Case {
    private static final int RING = 40;
    private static final String IVSHMEM = "ivshmem-plain, poll";

    @Override
    public String name() {
        return "put";
    }

    @Override
    public String doc() {
        return "64-byte PUT there and back between two processes (bp-pingpong), polling and by interrupt, beside ivshmem";
    }

    @Override
    public List<Measure> run(Context context) {
        return measure(context, context.guests());
    }

    static List<Measure> measure(Context context, GuestPair guests) {
        Measure median = new Measure("64-byte PUT there and back, median", "µs", false);
        Measure p99 = new Measure("64-byte PUT there and back, p99", "µs", false);
        Measure rate = new Measure("64-byte PUT there and back, one at a time", "round trips/s", true);
        List<String> modes = new ArrayList<>(List.of("poll", "interrupt"));
        context.missing(
                "ivshmem-doorbell",
                "Debian's QEMU packages have no ivshmem-server, and its cloud kernel no driver that hands a process MSI-X");
        String program = System.getenv("BACKPLANE_IVSHMEM_PINGPONG");
        if (program == null) {
            context.missing("ivshmem-plain", "its program is missing: run it by ci/bench");
        } else {
            guests.install(Path.of(program));
            modes.add(IVSHMEM);
        }
        Interleave.rounds(context, modes.toArray(new String[0]), (mode, counted) -> {
            int count = mode.equals("interrupt") ? context.choose(1000, 5000) : context.choose(10_000, 50_000);
            if (mode.equals(IVSHMEM)) {
                JsonNode result = TcpCase.json(ivshmem(guests, count));
                if (counted) {
                    median.add(mode, result.path("p50").asDouble());
                    p99.add(mode, result.path("p99").asDouble());
                }
                return;
            }
            String out = guests.serverAndClient(
                    "bp-pingpong --server --ring " + RING + " --" + mode,
                    "ring " + RING,
                    "bp-pingpong --client --node 2 --json --size 64 --ring " + RING + " --count " + count + " --"
                            + mode);
            if (counted) {
                JsonNode result = TcpCase.json(out);
                median.add(mode, result.at("/round_trip_us/p50").asDouble());
                p99.add(mode, result.at("/round_trip_us/p99").asDouble());
                rate.add(mode, result.path("round_trips_per_s").asDouble());
            }
        });
        return List.of(median, p99, rate);
    }

    /** The same size through shared memory alone: no rights, no rings, no notification, two processors that spin. */
    private static String ivshmem(GuestPair guests, int count) {
        String device = "$(basename $(dirname $(grep -l 0x1110 /sys/bus/pci/devices/*/device | head -n 1)))";
        return guests.serverAndClient(
                "/tmp/ivshmem-pingpong server poll " + device + " " + count,
                "ready",
                "/tmp/ivshmem-pingpong client poll " + device + " " + count);
    }
}
