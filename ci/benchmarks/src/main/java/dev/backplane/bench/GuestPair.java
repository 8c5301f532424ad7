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
import java.util.Base64;
import java.util.Set;

/**
 * Two guests that reach each other in several ways at once, so that the ways are compared between the same guests in the
 * same run: through Backplane, and through virtio-net over whatever of {@link Peers} can run here.
 */
final class GuestPair implements AutoCloseable {
    private static final Duration LONG = Duration.ofMinutes(3);

    private final Cluster cluster;
    private final Path directory;
    private final Peers peers;

    private GuestPair(Cluster cluster, Path directory, Peers peers) {
        this.cluster = cluster;
        this.directory = directory;
        this.peers = peers;
    }

    /** Boots them, on a device server with these arguments beside the number of nodes. */
    static GuestPair boot(Context context, Set<Way> wanted, String... serverArguments) {
        Path directory = new Scratch().path("");
        Peers peers = new Peers(directory, context, wanted);
        Cluster cluster = Cluster.of(2)
                .withServerArguments(serverArguments)
                .withRunner(peers.runner())
                .withDevices(peers::devices);
        cluster.start();
        GuestPair pair = new GuestPair(cluster, directory, peers);
        for (int id = 1; id <= 2; id++) {
            pair.configure(id);
        }
        return pair;
    }

    private void configure(int id) {
        StringBuilder script = new StringBuilder("modprobe virtio_net; udevadm settle 2>/dev/null; set -e;");
        for (Way way : peers.ways()) {
            if (way != Way.BACKPLANE) {
                script.append(" for d in /sys/class/net/*; do grep -q ")
                        .append(way.mac(id))
                        .append(" $d/address && i=$(basename $d); done; ip addr add ")
                        .append(way.address(id))
                        .append("/24 dev $i; ip link set $i up;");
            }
        }
        guest(id).exec(script.toString()).ok();
    }

    /** The ways that are there, Backplane first. */
    Way[] ways() {
        return peers.ways();
    }

    /** Copies a program into both guests, to {@code /tmp} under its own name. */
    void install(Path program) {
        try {
            String text = Base64.getMimeEncoder().encodeToString(Files.readAllBytes(program));
            String to = "/tmp/" + program.getFileName();
            for (int id = 1; id <= 2; id++) {
                guest(id)
                        .exec("base64 -d > " + to + " << END\n" + text.replace("\r", "") + "\nEND\nchmod 755 " + to)
                        .ok();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
        peers.close();
        Scratch.remove(directory);
    }
}
