// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.DeviceServer;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Register reads over the socket, by one client, of this server and of libvfio-user's. */
final class RegisterCase implements Case {
    private static final String PEER = "libvfio-user";

    @Override
    public String name() {
        return "register";
    }

    @Override
    public String doc() {
        return "4-byte register read over the socket with one client; against libvfio-user's C server where given";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure rate = new Measure("4-byte register read", "reads/s", true);
        Measure median = new Measure("4-byte register read, median", "ns", false);
        Measure p99 = new Measure("4-byte register read, p99", "ns", false);
        Process peer = null;
        Map<String, VfioUserClient> clients = new LinkedHashMap<>();
        try (Scratch scratch = new Scratch();
                DeviceServer server = DeviceServer.start(scratch.folder("run"), List.of("--nodes", "1"))) {
            clients.put("backplane", VfioUserClient.connect(scratch.path("run/node1.agg.sock")));
            context.say("server " + server.pid());
            if (context.libvfioUserServer() != null) {
                Path socket = scratch.path("peer.sock");
                peer = new ProcessBuilder(context.libvfioUserServer().toString(), socket.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
                clients.put(PEER, connect(peer, socket));
            }
            int reads = context.choose(20_000, 100_000);
            Interleave.rounds(context, clients.keySet().toArray(new String[0]), (variant, counted) -> {
                Histogram h = new Histogram(3);
                long begin = System.nanoTime();
                // BAR 0 of libvfio-user's sample takes accesses of 8 bytes only.
                read(clients.get(variant), variant.equals(PEER) ? 1 : 0, reads, h);
                double seconds = (System.nanoTime() - begin) / 1e9;
                if (counted) {
                    rate.add(variant, reads / seconds);
                    median.add(variant, (double) h.getValueAtPercentile(50));
                    p99.add(variant, (double) h.getValueAtPercentile(99));
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            clients.values().forEach(VfioUserClient::close);
            if (peer != null) {
                peer.destroy();
            }
        }
        return List.of(rate, median, p99);
    }

    private static void read(VfioUserClient client, int region, int reads, Histogram h) {
        try {
            for (int i = 0; i < reads; i++) {
                long begin = System.nanoTime();
                client.readInt(region, 0);
                h.recordValue(System.nanoTime() - begin);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The peer prints nothing when it listens, so this looks for its socket. */
    private static VfioUserClient connect(Process peer, Path socket) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!Files.exists(socket)) {
            if (!peer.isAlive() || System.nanoTime() > deadline) {
                throw new IOException("libvfio-user's server makes no socket");
            }
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
        return VfioUserClient.connect(socket);
    }
}
