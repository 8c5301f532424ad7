// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.DeviceServer;
import dev.backplane.testkit.GuestFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a frame, a message and a node cost, from two nodes to many: real sockets, simulated guests, all of them busy. */
final class ScaleCase implements Case {
    private static final int FRAME = 64;
    private static final int BURST = 32;

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public String doc() {
        return "cost of a 64-byte frame and of a 64-byte PUT, of a node's memory and start, 2 to 256 nodes that all send";
    }

    /** What is measured for each number of nodes. */
    private static final class Measures {
        final Measure frame = new Measure("server time for a 64-byte frame", "ns", false).over("nodes");
        final Measure frames = new Measure("64-byte frames through the server", "/s", true).over("nodes");
        final Measure put = new Measure("server time for a 64-byte PUT", "ns", false).over("nodes");
        final Measure puts = new Measure("64-byte PUTs through the server", "/s", true).over("nodes");
        final Measure start = new Measure("server start to listening", "ms", false).over("nodes");
        final Measure attach = new Measure("connecting both devices of a node", "ms", false).over("nodes");
        final Measure resident = new Measure("server memory, resident", "MiB", false).over("nodes");
        final Measure own = new Measure("server memory of its own, all nodes busy", "MiB", false).over("nodes");
        final Measure threads = new Measure("server threads", "", false).over("nodes");
        final Measure files = new Measure("server's open files", "", false).over("nodes");

        List<Measure> all() {
            return List.of(frame, frames, put, puts, start, attach, resident, own, threads, files);
        }
    }

    @Override
    public List<Measure> run(Context context) {
        Measures measures = new Measures();
        Integer[] sizes = context.quick() ? new Integer[] {2, 16, 64, 256} : new Integer[] {2, 8, 32, 64, 128, 256};
        Interleave.rounds(context, sizes, (nodes, counted) -> {
            if (!counted && nodes > 16) {
                return; // nothing of it lasts: each round has a server of its own
            }
            try (Scratch scratch = new Scratch()) {
                long begin = System.nanoTime();
                try (DeviceServer server =
                        DeviceServer.start(scratch.folder("run"), List.of("--nodes", nodes.toString()))) {
                    double started = (System.nanoTime() - begin) / 1e6;
                    Measures to = counted ? measures : new Measures();
                    to.start.add(nodes.toString(), started);
                    measure(context, scratch, server, nodes, to);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (GuestFailure e) {
                // What the other sizes have shown is not lost with it.
                context.missing(
                        "scale, " + nodes + " nodes",
                        e.getMessage().lines().findFirst().orElse(""));
            }
        });
        return measures.all();
    }

    private static void measure(Context context, Scratch scratch, DeviceServer server, int count, Measures to)
            throws IOException {
        String variant = Integer.toString(count);
        List<SimulatedNode> nodes = new ArrayList<>();
        List<SimulatedMessenger> messengers = new ArrayList<>();
        try {
            long begin = System.nanoTime();
            for (int id = 1; id <= count; id++) {
                nodes.add(SimulatedNode.connect(scratch.path("run/node" + id + ".agg.sock")));
                messengers.add(new SimulatedMessenger(scratch.path("run/node" + id + ".imm.sock")));
            }
            to.attach.add(variant, (System.nanoTime() - begin) / 1e6 / count);
            for (int i = 0; i < count; i++) {
                nodes.get(i).prepare(nodes.get((i + 1) % count).mac(), FRAME);
                messengers.get(i).target((i + 1) % count + 1);
            }
            run(
                    server,
                    context.choose(200_000, 1_000_000),
                    variant,
                    to.frame,
                    to.frames,
                    total -> frames(nodes, total));
            run(server, context.choose(50_000, 500_000), variant, to.put, to.puts, total -> puts(messengers, total));
            Map<String, Long> status = status(server.pid());
            to.resident.add(variant, status.get("VmRSS") / 1024.0);
            to.own.add(variant, status.get("RssAnon") / 1024.0);
            to.threads.add(variant, status.get("Threads").doubleValue());
            try (var files = Files.list(Path.of("/proc/" + server.pid() + "/fd"))) {
                to.files.add(variant, (double) files.count());
            }
        } finally {
            nodes.forEach(SimulatedNode::close);
            messengers.forEach(SimulatedMessenger::close);
        }
    }

    /** Moves at least that many, and returns how many it were. */
    private interface Pass {
        long move(long total) throws IOException;
    }

    private static void run(DeviceServer server, long total, String variant, Measure cost, Measure rate, Pass pass)
            throws IOException {
        pass.move(total / 4);
        long before = ProcessorTime.of(server.pid()).toNanos();
        long begin = System.nanoTime();
        long moved = pass.move(total);
        double seconds = (System.nanoTime() - begin) / 1e9;
        cost.add(variant, (double) (ProcessorTime.of(server.pid()).toNanos() - before) / moved);
        rate.add(variant, moved / seconds);
    }

    /** Every node sends bursts to its right-hand neighbour until {@code total} frames have arrived. */
    private static long frames(List<SimulatedNode> nodes, long total) throws IOException {
        long sent = 0;
        long received = 0;
        while (received < total || received < sent) {
            for (int i = 0; i < nodes.size(); i++) {
                SimulatedNode from = nodes.get(i);
                int burst = sent < total ? Math.min(BURST, from.room()) : 0;
                if (burst > 0) {
                    from.send(burst);
                    sent += burst;
                }
                received += nodes.get((i + 1) % nodes.size()).receive();
            }
        }
        return received;
    }

    /** Every node's process puts batches into its right-hand neighbour's ring until {@code total} have arrived. */
    private static long puts(List<SimulatedMessenger> nodes, long total) throws IOException {
        long sent = 0;
        long done = 0;
        while (done < total || done < sent) {
            for (int i = 0; i < nodes.size(); i++) {
                SimulatedMessenger from = nodes.get(i);
                done += from.completed();
                if (sent < total && from.inFlight() == 0) {
                    sent += from.put();
                }
                nodes.get((i + 1) % nodes.size()).consume();
            }
        }
        return done;
    }

    /** The numbers of {@code /proc/PID/status}; memory in KiB. */
    private static Map<String, Long> status(long pid) throws IOException {
        Map<String, Long> all = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
            String[] words = line.split("[:\\s]+", 3);
            if (words.length > 1 && words[1].matches("\\d+")) {
                all.put(words[0], Long.valueOf(words[1]));
            }
        }
        return all;
    }
}
