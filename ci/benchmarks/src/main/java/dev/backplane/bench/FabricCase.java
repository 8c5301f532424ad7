// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.devices.Node;
import dev.backplane.devices.agg.SwitchFabric;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.loop.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Frames through the aggregation device in one thread, from simulated guest to simulated guest. The drivers do nothing
 * but step their indices, and time is the thread's processor time, so that what is measured is the device.
 */
final class FabricCase implements Case {
    private static final int[] SIZES = {64, 1514, 65_000};
    private static final Integer[] PORTS = {2, 16, 64, 256};

    /** Memory that a measurement goes through, each way; more than any cache holds with the larger frames. */
    private static final int BATCH_BYTES = 1 << 20;

    @Override
    public String name() {
        return "fabric";
    }

    @Override
    public String doc() {
        return "frames through the device in one thread (simulated guests), beside the two copies by themselves";
    }

    @Override
    public List<Measure> run(Context context) {
        List<Measure> all = new ArrayList<>();
        long nanos = context.choose(500, 2000) * 1_000_000L;
        for (int bytes : SIZES) {
            Measure rate = new Measure("frames of " + String.format(Locale.ROOT, "%,d", bytes) + " bytes", "/s", true);
            Interleave.rounds(context, new String[] {"device", "two copies"}, (variant, counted) -> {
                double r = variant.equals("device") ? frames(2, bytes, nanos) : copies(bytes, nanos);
                if (counted) {
                    rate.add(variant, r);
                }
            });
            all.add(rate);
        }
        Measure cost = new Measure("64-byte frame through the device", "ns", false).over("ports");
        Interleave.rounds(context, PORTS, (ports, counted) -> {
            double r = frames(ports, 64, nanos);
            if (counted) {
                cost.add(ports.toString(), 1e9 / r);
            }
        });
        all.add(cost);
        return all;
    }

    /** Frames a second, each port sending to the next one. */
    private static double frames(int ports, int bytes, long nanos) {
        FabricConfig config = FabricConfig.defaults().withMaxPorts(ports);
        List<SimulatedNode> nodes = new ArrayList<>();
        Workers workers = new Workers(Workers.Mode.INLINE, 1, 16_384);
        try (SwitchFabric fabric = new SwitchFabric(config, workers);
                workers) {
            try {
                for (int id = 1; id <= ports; id++) {
                    nodes.add(new SimulatedNode(
                            new LocalAccess(fabric.addNode(Node.of(id), PortConfig.defaults())),
                            Math.max(128, (bytes + 63) & -64)));
                }
                for (int i = 0; i < ports; i++) {
                    nodes.get(i).prepare(nodes.get((i + 1) % ports).mac(), bytes);
                }
                int batch = Math.clamp(BATCH_BYTES / bytes, 1, SimulatedNode.RING / 2);
                pass(
                        nodes, batch,
                        nanos); // the fabric is new: its memory has not been touched, nor its code all compiled
                return pass(nodes, batch, nanos);
            } finally {
                nodes.forEach(SimulatedNode::close);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double pass(List<SimulatedNode> nodes, int batch, long nanos) throws IOException {
        long frames = 0;
        long begin = processorNanos();
        long now;
        do {
            for (int i = 0; i < nodes.size(); i++) {
                SimulatedNode to = nodes.get((i + 1) % nodes.size());
                nodes.get(i).send(batch);
                for (int received = 0; received < batch; ) {
                    received += to.receive(); // more than once only for what a worker has taken over
                }
                frames += batch;
            }
            now = processorNanos();
        } while (now - begin < nanos);
        return frames * 1e9 / (now - begin);
    }

    /** Pairs of copies a second through as much memory: what a frame would cost if a device did nothing else. */
    private static double copies(int bytes, long nanos) {
        int slots = SimulatedNode.RING;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment[] memory = new MemorySegment[3];
            Arrays.setAll(memory, i -> arena.allocate((long) slots * bytes, 64));
            long copies = 0;
            long begin = processorNanos();
            long now;
            do {
                for (int i = 0; i < slots; i++) {
                    long at = (long) i * bytes;
                    MemorySegment.copy(memory[0], at, memory[1], at, bytes);
                    MemorySegment.copy(memory[1], at, memory[2], at, bytes);
                }
                copies += slots;
                now = processorNanos();
            } while (now - begin < nanos);
            return copies * 1e9 / (now - begin);
        }
    }

    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
