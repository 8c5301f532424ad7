// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.DeviceServer;
import java.util.List;

/** Time from the start of the process to its ready line. */
final class StartCase implements Case {
    @Override
    public String name() {
        return "start";
    }

    @Override
    public String doc() {
        return "device server: from the start of the process until all sockets listen";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure time = new Measure("server start to listening", "ms", false);
        Interleave.rounds(context, new Integer[] {2, 64}, (nodes, counted) -> {
            try (Scratch scratch = new Scratch()) {
                long begin = System.nanoTime();
                try (DeviceServer server =
                        DeviceServer.start(scratch.folder("run"), List.of("--nodes", nodes.toString()))) {
                    if (counted) {
                        time.add(nodes + " nodes", (System.nanoTime() - begin) / 1e6);
                    }
                    context.say("pid " + server.pid() + " is ready");
                }
            }
        });
        return List.of(time);
    }
}
