// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.devices.agg.PortView;
import dev.backplane.devices.fabric.MemoryView;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.server.run.NodeRuntime;
import dev.backplane.server.uplink.Uplink;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What Prometheus scrapes. Names are {@code backplane_GROUP_COUNTER_total} with labels {@code node} and, for what every
 * socket has, {@code device}. Made anew at each scrape: data paths know nothing of it.
 */
final class Metrics {
    static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private final Map<String, CounterSnapshot.Builder> counters = new LinkedHashMap<>();
    private final MetricSnapshots.Builder snapshots = MetricSnapshots.builder();

    private Metrics() {}

    static String text(DeviceServer server) {
        Metrics m = new Metrics();
        server.commonCounters().forEach(m::addCommon);
        for (NodeRuntime n : server.nodes()) {
            for (DeviceSocket s : n.sockets()) {
                m.add(s, Labels.of("node", n.node().name()));
            }
        }
        for (Uplink u : server.uplinks()) {
            Labels name = Labels.of("uplink", u.port().name());
            m.add("uplink", u.port().counterGroup(), name);
            m.add(u.counters().name(), u.counters(), name);
        }
        m.counters.values().forEach(c -> m.snapshots.metricSnapshot(c.build()));
        m.gauges(server);
        try (ByteArrayOutputStream out = new ByteArrayOutputStream()) {
            PrometheusTextFormatWriter.create().write(out, m.snapshots.build());
            return out.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of what there are several, such as {@code poller0}, the number becomes a label. */
    private void addCommon(String name, CounterGroup group) {
        String kind = name.replaceAll("[0-9]+$", "");
        String number = name.substring(kind.length());
        add(kind, group, number.isEmpty() ? Labels.EMPTY : Labels.of("number", number));
    }

    private void add(DeviceSocket socket, Labels node) {
        boolean own = true;
        for (CounterGroup group : socket.counters()) {
            String device = socket.kind().label();
            add(own ? device : group.name(), group, own ? node : node.add("device", device));
            own = false;
        }
    }

    private void add(String prefix, CounterGroup group, Labels labels) {
        for (Counter c : group.all()) {
            String name = "backplane_" + prefix + "_" + c.name();
            counters.computeIfAbsent(
                            name, n -> CounterSnapshot.builder().name(n).help(c.doc()))
                    .dataPoint(CounterDataPointSnapshot.builder()
                            .value((double) c.get())
                            .labels(labels)
                            .build());
        }
    }

    private void gauges(DeviceServer server) {
        MemoryView memory = server.fabric().memoryView();
        gauge("backplane_rendezvous_memory_bytes", "Size of rendezvous memory", (double) memory.bytes());
        gauge(
                "backplane_rendezvous_memory_allocated_bytes",
                "Rendezvous memory that holds frames",
                (double) memory.allocated() * memory.cellBytes());
        gauge(
                "backplane_rendezvous_memory_high_water_bytes",
                "Most that ever held frames at a time",
                (double) memory.highWater() * memory.cellBytes());
        ports(
                server,
                "backplane_port_queued_frames",
                "Frames in the port's memory output queues",
                PortView::queuedFrames);
        ports(server, "backplane_port_link_up", "Whether the link is up", p -> p.linkUp() ? 1 : 0);
        uplinks(server);
        GaugeSnapshot.Builder connected =
                GaugeSnapshot.builder().name("backplane_connected").help("Whether a client is connected");
        for (NodeRuntime n : server.nodes()) {
            for (DeviceSocket s : n.sockets()) {
                connected.dataPoint(GaugeDataPointSnapshot.builder()
                        .value(s.server().connected() ? 1 : 0)
                        .labels(Labels.of(
                                "node", n.node().name(), "device", s.kind().label()))
                        .build());
            }
        }
        snapshots.metricSnapshot(connected.build());
        gauge("backplane_heap_used_bytes", "Java heap in use", (double)
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        gauge(
                "backplane_threads",
                "Threads",
                ManagementFactory.getThreadMXBean().getThreadCount());
    }

    private void uplinks(DeviceServer server) {
        if (server.uplinks().isEmpty()) {
            return;
        }
        GaugeSnapshot.Builder up =
                GaugeSnapshot.builder().name("backplane_uplink_link_up").help("Whether the uplink's link is up");
        GaugeSnapshot.Builder queued = GaugeSnapshot.builder()
                .name("backplane_uplink_queued_frames")
                .help("Frames in the uplink's memory output queue");
        for (Uplink u : server.uplinks()) {
            Labels name = Labels.of("uplink", u.port().name());
            up.dataPoint(GaugeDataPointSnapshot.builder()
                    .value(u.port().linkUp() ? 1 : 0)
                    .labels(name)
                    .build());
            queued.dataPoint(GaugeDataPointSnapshot.builder()
                    .value(u.port().queuedFrames())
                    .labels(name)
                    .build());
        }
        snapshots.metricSnapshot(up.build());
        snapshots.metricSnapshot(queued.build());
    }

    private void gauge(String name, String help, double value) {
        snapshots.metricSnapshot(GaugeSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(GaugeDataPointSnapshot.builder().value(value).build())
                .build());
    }

    private void ports(DeviceServer server, String name, String help, ToDoubleFunction<PortView> value) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name).help(help);
        for (PortView p : server.fabric().portView()) {
            gauge.dataPoint(GaugeDataPointSnapshot.builder()
                    .value(value.applyAsDouble(p))
                    .labels(Labels.of("node", p.node().name()))
                    .build());
        }
        snapshots.metricSnapshot(gauge.build());
    }
}
