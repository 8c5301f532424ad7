// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import dev.backplane.server.LogConfigurator;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.ServeOptions;
import dev.backplane.server.run.StartException;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.topology.TopologyException;
import dev.backplane.server.topology.TopologyFile;
import dev.backplane.server.view.ManagementRoutes;
import dev.backplane.vfiouser.natives.SchedulingSlice;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code backplane serve}: the device server. */
@Command(
        name = "serve",
        description = {
            "Run the device server until SIGTERM or SIGINT.",
            "For each node NAME it listens on NAME.agg.sock and NAME.imm.sock in the run directory. Once everything"
                    + " listens it prints one line of JSON on standard output; it logs on standard error."
        },
        mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {
    private static final int DEFAULT_NODES = 2;

    /** What the server is to be: a number of nodes or a file. */
    private static final class What {
        @Option(names = "--nodes", paramLabel = "N", description = "Nodes node1 to nodeN with defaults (2).")
        private Integer nodes;

        @Option(names = "--topology", paramLabel = "FILE", description = "Topology file, see qemu-config.")
        private Path file;
    }

    @ArgGroup
    private What what;

    @Mixin
    private RunDirOption runDir;

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "Threads that take what does not fit a turn; by default half the processors, at least 1.")
    private Integer workers;

    @Option(
            names = "--debug",
            description = "For a debugger: device code runs on worker threads only, so that with a breakpoint in it"
                    + " registers go on answering.")
    private boolean debug;

    /** The shortest slice that the kernel grants: the server's threads are waited for, and run for microseconds. */
    private static final long SLICE_NANOS = 100_000;

    @Option(names = "--poll", description = "Poll instead of sleeping: lowest latency, uses a processor.")
    private boolean poll;

    @Option(
            names = "--log-level",
            paramLabel = "LEVEL",
            defaultValue = "info",
            description = "error, warn, info, debug or trace (default ${DEFAULT-VALUE}).")
    private String logLevel;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws CommandException {
        LogConfigurator.level(logLevel);
        // Before any of the server's threads is started: they inherit it.
        SchedulingSlice.request(SLICE_NANOS);
        DeviceServer server;
        try {
            server = DeviceServer.start(topology(), options(), ManagementRoutes::of);
        } catch (TopologyException | StartException | IllegalArgumentException e) {
            throw new CommandException(CommandException.USAGE, e.getMessage(), e);
        } catch (OutOfMemoryError e) {
            throw new CommandException(
                    CommandException.FAILED,
                    "not enough memory (" + e.getMessage() + "): serve fewer nodes, or give Java more heap with"
                            + " BACKPLANE_JAVA_OPTS=-Xmx4g",
                    e);
        }
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("shutdown").unstarted(() -> {
                    server.close();
                    ended.countDown();
                    // A signal is the way to end a server, so that is no failure: 0 instead of 128 + its number.
                    Runtime.getRuntime().halt(0);
                }));
        PrintWriter out = spec.commandLine().getOut();
        out.println(server.ready().toJson());
        out.flush();
        while (true) {
            try {
                ended.await();
                return 0;
            } catch (InterruptedException e) {
                // Nobody interrupts the main thread on purpose; signals end the server.
            }
        }
    }

    private Topology topology() throws TopologyException {
        if (what != null && what.file != null) {
            return TopologyFile.read(what.file);
        }
        return Topology.ofNodes(what == null || what.nodes == null ? DEFAULT_NODES : what.nodes);
    }

    private ServeOptions options() {
        int processors = Runtime.getRuntime().availableProcessors();
        int count = workers == null ? Math.max(1, processors / 2) : workers;
        return new ServeOptions(runDir.directory(), count, debug, poll);
    }
}
