// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.DeviceServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a frame costs, and what a node costs, from two nodes to many: real sockets, simulated guests. */
final class ScaleCase implements Case {
    private static final int FRAME = 64;
    private static final int BURST = 32;

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public String doc() {
        return "cost of a 64-byte frame and memory of a node, with 2 to 256 nodes that all send (simulated guests)";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure cost = new Measure("server time for a frame", "ns", false);
        Measure rate = new Measure("frames through the server", "frames/s", true);
        Measure memory = new Measure("server memory", "MiB", false);
        Integer[] sizes = context.rounds() > 3 ? new Integer[] {2, 8, 32, 64, 128, 256} : new Integer[] {2, 16, 64};
        Interleave.rounds(context, sizes, (nodes, counted) -> {
            try (Scratch scratch = new Scratch();
                    DeviceServer server =
                            DeviceServer.start(scratch.folder("run"), List.of("--nodes", nodes.toString()))) {
                measure(context, scratch, server, nodes, counted ? List.of(cost, rate, memory) : List.of());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return List.of(cost, rate, memory);
    }

    private static void measure(
            Context context, Scratch scratch, DeviceServer server, int count, List<Measure> measures)
            throws IOException {
        List<SimulatedNode> nodes = new ArrayList<>();
        try {
            for (int id = 1; id <= count; id++) {
                nodes.add(new SimulatedNode(scratch.path("run/node" + id + ".agg.sock")));
            }
            pass(nodes, context.choose(20_000, 100_000));
            long before = ProcessorTime.of(server.pid()).toNanos();
            long begin = System.nanoTime();
            long frames = pass(nodes, context.choose(200_000, 1_000_000));
            double seconds = (System.nanoTime() - begin) / 1e9;
            long used = ProcessorTime.of(server.pid()).toNanos() - before;
            if (!measures.isEmpty()) {
                String variant = String.format(Locale.ROOT, "%d nodes", count);
                measures.get(0).add(variant, (double) used / frames);
                measures.get(1).add(variant, frames / seconds);
                measures.get(2).add(variant, residentMib(server.pid()));
            }
        } finally {
            nodes.forEach(SimulatedNode::close);
        }
    }

    /** Every node sends bursts to its right-hand neighbour until {@code total} frames have arrived. */
    private static long pass(List<SimulatedNode> nodes, long total) throws IOException {
        long sent = 0;
        long received = 0;
        while (received < total) {
            for (int i = 0; i < nodes.size(); i++) {
                SimulatedNode from = nodes.get(i);
                SimulatedNode to = nodes.get((i + 1) % nodes.size());
                int burst = sent < total ? Math.min(BURST, from.room()) : 0;
                for (int n = 0; n < burst; n++) {
                    from.send(to.mac(), FRAME);
                }
                if (burst > 0) {
                    from.flush();
                    sent += burst;
                }
                received += to.receive();
            }
        }
        return received;
    }

    private static double residentMib(long pid) throws IOException {
        return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                .filter(l -> l.startsWith("VmRSS:"))
                .mapToDouble(l -> Double.parseDouble(l.replaceAll("\\D+", "")) / 1024)
                .findFirst()
                .orElse(0);
    }
}
