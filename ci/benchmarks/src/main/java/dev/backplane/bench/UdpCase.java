// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Small packets per second between the guests. */
final class UdpCase implements Case {
    private static final int PAYLOAD = 64;

    @Override
    public String name() {
        return "udp";
    }

    @Override
    public String doc() {
        return "64-byte UDP datagrams received per second (iperf3, unlimited rate), and the share that was lost";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure rate = new Measure("64-byte UDP received", "packets/s", true);
        Measure lost = new Measure("64-byte UDP lost", "%", false);
        GuestPair guests = context.guests();
        guests.rounds(context, guests.ways(), (way, counted) -> {
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
        });
        return List.of(rate, lost);
    }
}
