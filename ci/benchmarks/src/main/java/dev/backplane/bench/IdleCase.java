// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.DeviceServer;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a server costs whose clients are connected and do nothing. */
final class IdleCase implements Case {
    private static final int NODES = 64;

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String doc() {
        return "processor time of a server with " + NODES + " nodes whose clients are connected and idle";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure share = new Measure("idle server", "% of a core", false);
        List<VfioUserClient> clients = new ArrayList<>();
        try (Scratch scratch = new Scratch();
                DeviceServer server =
                        DeviceServer.start(scratch.folder("run"), List.of("--nodes", Integer.toString(NODES)))) {
            for (int id = 1; id <= NODES; id++) {
                for (String device : List.of("agg", "imm")) {
                    clients.add(VfioUserClient.connect(scratch.path("run/node" + id + "." + device + ".sock")));
                }
            }
            Interleave.rounds(context, new String[] {"backplane"}, (variant, counted) -> {
                Duration before = ProcessorTime.of(server.pid());
                pause(context.seconds());
                if (counted) {
                    double used = ProcessorTime.of(server.pid()).minus(before).toNanos() / 1e9;
                    share.add(NODES + " idle nodes", 100 * used / context.seconds());
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            clients.forEach(VfioUserClient::close);
        }
        return List.of(share);
    }

    private static void pause(int seconds) {
        try {
            TimeUnit.SECONDS.sleep(seconds);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
