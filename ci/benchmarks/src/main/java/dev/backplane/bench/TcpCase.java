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
        return "TCP guest to guest (iperf3), beside virtio-net over QEMU's netdevs, VDE, TAP, Open vSwitch with DPDK";
    }

    @Override
    public List<Measure> run(Context context) {
        return measure(context, context.guests(), context.guests().ways());
    }

    static List<Measure> measure(Context context, GuestPair guests, Way[] ways) {
        Measure tcp = new Measure("TCP guest to guest", "Mbit/s", true);
        Interleave.rounds(context, ways, (way, counted) -> {
            String out = guests.serverAndClient(
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
