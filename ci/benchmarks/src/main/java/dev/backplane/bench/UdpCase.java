// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Execution;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Small packets per second between the guests. */
final class UdpCase implements Case {
    private static final int PAYLOAD = 64;
    private static final Duration LONG = Duration.ofMinutes(3);

    @Override
    public String name() {
        return "udp";
    }

    @Override
    public String doc() {
        return "64-byte UDP datagrams received per second: a system call for each (iperf3), or for many (UDP_SEGMENT, UDP_GRO)";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure rate = new Measure("64-byte UDP received, one write each", "packets/s", true);
        Measure lost = new Measure("64-byte UDP lost, one write each", "%", false);
        Measure batched = new Measure("64-byte UDP received, 64 in a write", "packets/s", true);
        String program = System.getenv("BACKPLANE_UDP_RATE");
        GuestPair guests = context.guests();
        if (program != null) {
            guests.install(Path.of(program));
        }
        Interleave.rounds(context, guests.ways(), (way, counted) -> {
            String out = guests.serverAndClient(
                    "iperf3 -s -1 --forceflush",
                    "listening",
                    "iperf3 -J -u -b 0 -l " + PAYLOAD + " -c " + way.address(2) + " -t " + context.seconds());
            if (counted) {
                JsonNode received = TcpCase.json(out).at("/end/sum_received");
                double packets = received.path("packets").asDouble()
                        - received.path("lost_packets").asDouble();
                rate.add(way.label(), packets / received.path("seconds").asDouble());
                lost.add(way.label(), received.path("lost_percent").asDouble());
            }
            if (program != null) {
                double packets = batched(guests, way, context.seconds());
                if (counted) {
                    batched.add(way.label(), packets);
                }
            }
        });
        return program == null ? List.of(rate, lost) : List.of(rate, lost, batched);
    }

    /** Datagrams per second that the receiver counted while the sender was at it. */
    private static double batched(GuestPair guests, Way way, int seconds) {
        Execution receiver = guests.guest(2).start("/tmp/udp-rate receive " + seconds);
        receiver.awaitOutput("ready", LONG);
        // Longer than the receiver counts, which begins with the first datagram.
        guests.guest(1)
                .exec("/tmp/udp-rate send " + way.address(2) + " " + PAYLOAD + " " + (seconds + 1), LONG)
                .ok();
        String[] words = receiver.await(LONG).ok().out().strip().split("\\s+", -1);
        return Double.parseDouble(words[1]) / Double.parseDouble(words[2]);
    }
}
