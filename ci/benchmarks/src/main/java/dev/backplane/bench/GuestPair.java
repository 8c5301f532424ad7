// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Two guests that reach each other in several ways at once, so that the ways are compared between the same guests in the
 * same run: through Backplane, and through virtio-net over QEMU's {@code stream} and {@code dgram} netdevs.
 */
final class GuestPair implements AutoCloseable {
    /** A way from guest to guest. */
    enum Way {
        BACKPLANE("backplane", "10.77.0."),
        STREAM("virtio-net, stream", "10.78.0."),
        DGRAM("virtio-net, dgram", "10.79.0.");

        private final String label;
        private final String prefix;

        Way(String label, String prefix) {
            this.label = label;
            this.prefix = prefix;
        }

        String label() {
            return label;
        }

        /** The address of guest {@code id}, 1 or 2. */
        String address(int id) {
            return prefix + id;
        }
    }

    private static final Duration LONG = Duration.ofMinutes(3);

    private final Cluster cluster;
    private final Path directory;

    private GuestPair(Cluster cluster, Path directory) {
        this.cluster = cluster;
        this.directory = directory;
    }

    static GuestPair boot() {
        try {
            Path directory = Files.createTempDirectory(Path.of("/tmp"), "bpb-");
            Cluster cluster = Cluster.of(2).withDevices(id -> peers(directory, id));
            cluster.start();
            for (int id = 1; id <= 2; id++) {
                configure(cluster.node(id), id);
            }
            return new GuestPair(cluster, directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> peers(Path dir, int id) {
        String stream = "stream,id=stream,addr.type=unix,addr.path=" + dir.resolve("stream")
                + (id == 1 ? ",server=on" : ",server=off,reconnect-ms=100");
        String dgram = "dgram,id=dgram,local.type=unix,local.path=" + dir.resolve("dgram" + id)
                + ",remote.type=unix,remote.path=" + dir.resolve("dgram" + (3 - id));
        return List.of(
                "-netdev",
                stream,
                "-device",
                "virtio-net-pci,netdev=stream,mac=02:00:00:00:78:0" + id,
                "-netdev",
                dgram,
                "-device",
                "virtio-net-pci,netdev=dgram,mac=02:00:00:00:79:0" + id);
    }

    private static void configure(Guest guest, int id) {
        guest.exec("modprobe virtio_net; udevadm settle 2>/dev/null; for n in 78 79; do"
                        + " for d in /sys/class/net/*; do grep -q 02:00:00:00:$n $d/address && i=$(basename $d); done;"
                        + " ip addr add 10.$n.0." + id + "/24 dev $i && ip link set $i up || exit 1; done")
                .ok();
    }

    Guest guest(int id) {
        return cluster.node(id);
    }

    Cluster cluster() {
        return cluster;
    }

    /** Runs a server in guest 2, a client in guest 1, and returns the client's output. */
    String serverAndClient(String server, String listening, String client) {
        Execution s = guest(2).start(server);
        try {
            s.awaitOutput(listening, LONG);
            return guest(1).exec(client, LONG).ok().out();
        } finally {
            if (!s.ended()) {
                s.kill(15);
            }
        }
    }

    @Override
    public void close() {
        cluster.close();
        try {
            for (String name : List.of("stream", "dgram1", "dgram2")) {
                Files.deleteIfExists(directory.resolve(name));
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
