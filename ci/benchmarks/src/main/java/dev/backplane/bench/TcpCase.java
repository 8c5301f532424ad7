// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;

/** TCP throughput between the guests. */
final class TcpCase implements Case {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public String name() {
        return "tcp";
    }

    @Override
    public String doc() {
        return "TCP guest to guest (iperf3), against virtio-net over QEMU's stream and dgram netdevs";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure tcp = new Measure("TCP guest to guest", "Mbit/s", true);
        Interleave.rounds(context, GuestPair.Way.values(), (way, counted) -> {
            String out = context.guests()
                    .serverAndClient(
                            "iperf3 -s -1 --forceflush",
                            "listening",
                            "iperf3 -J -c " + way.address(2) + " -O 1 -t " + context.seconds());
            if (counted) {
                tcp.add(
                        way.label(),
                        json(out).at("/end/sum_received/bits_per_second").asDouble() / 1e6);
            }
        });
        return List.of(tcp);
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not JSON: " + text, e);
        }
    }
}
