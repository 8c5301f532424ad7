// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * A device server and its guests, as a JUnit extension: {@code @RegisterExtension static final Cluster CLUSTER =
 * Cluster.of(2);}. The guests {@code node1}, {@code node2}, … boot side by side before the first test of the class and
 * end after the last. A test that fails gets the consoles, the server's log, its counters and its threads attached; a
 * guest that panicked fails the test it happened in, even if that test did not look.
 */
public final class Cluster
        implements BeforeAllCallback,
                AfterAllCallback,
                AfterEachCallback,
                TestExecutionExceptionHandler,
                AutoCloseable {
    private final int nodes;
    private final List<String> serverLauncher;
    private final List<String> serverArguments;
    private final int megabytes;
    private final int cpus;
    private final GuestRunner runner;
    private final IntFunction<List<String>> devices;
    private final IntFunction<GuestImage> images;
    private final boolean shared;
    private final Map<String, Guest> guests = new LinkedHashMap<>();

    private Path directory;
    private DeviceServer server;

    private Cluster(
            int nodes,
            List<String> serverLauncher,
            List<String> serverArguments,
            int megabytes,
            int cpus,
            GuestRunner runner,
            IntFunction<List<String>> devices,
            IntFunction<GuestImage> images,
            boolean shared) {
        this.nodes = nodes;
        this.serverLauncher = List.copyOf(serverLauncher);
        this.serverArguments = List.copyOf(serverArguments);
        this.megabytes = megabytes;
        this.cpus = cpus;
        this.runner = runner;
        this.devices = devices;
        this.images = images;
        this.shared = shared;
    }

    /** A server with {@code nodes} nodes, and a guest for each, run as {@link GuestRunner#chosen} says. */
    public static Cluster of(int nodes) {
        return new Cluster(
                nodes,
                List.of(),
                List.of(),
                GuestConfig.DEFAULT_MEGABYTES,
                1,
                GuestRunner.chosen(),
                id -> List.of(),
                id -> GuestImage.fromEnvironment(),
                false);
    }

    /** The same with more arguments for {@code backplane serve}; one may be a topology with the nodes that it needs. */
    public Cluster withServerArguments(String... arguments) {
        return new Cluster(nodes, serverLauncher, List.of(arguments), megabytes, cpus, runner, devices, images, shared);
    }

    /**
     * The same with the server started by a program that becomes the command that follows its own arguments:
     * {@code unshare --net}, for instance, for a network namespace of its own.
     */
    public Cluster withServerLauncher(String... launcher) {
        return new Cluster(nodes, List.of(launcher), serverArguments, megabytes, cpus, runner, devices, images, shared);
    }

    /** The same with guests of another size. */
    public Cluster withGuests(int mib, int processors) {
        return new Cluster(nodes, serverLauncher, serverArguments, mib, processors, runner, devices, images, shared);
    }

    /** The same with QEMU run in another way. */
    public Cluster withRunner(GuestRunner other) {
        return new Cluster(nodes, serverLauncher, serverArguments, megabytes, cpus, other, devices, images, shared);
    }

    /** The same with more QEMU arguments for the guest of each node, whose id the function gets. */
    public Cluster withDevices(IntFunction<List<String>> arguments) {
        return new Cluster(nodes, serverLauncher, serverArguments, megabytes, cpus, runner, arguments, images, shared);
    }

    /** The same with a kernel and image for the guest of each node, whose id the function gets. */
    public Cluster withImages(IntFunction<GuestImage> other) {
        return new Cluster(nodes, serverLauncher, serverArguments, megabytes, cpus, runner, devices, other, shared);
    }

    /**
     * The same, but it stays up until the last test of the run: for a constant that several test classes register. A test
     * that takes a guest down brings it up again.
     */
    public Cluster shared() {
        return new Cluster(nodes, serverLauncher, serverArguments, megabytes, cpus, runner, devices, images, true);
    }

    /** The guest of that name. */
    public Guest guest(String name) {
        Guest g = guests.get(name);
        if (g == null) {
            throw new IllegalArgumentException("no guest " + name + "; there are " + guests.keySet());
        }
        return g;
    }

    /** The guest of node {@code id}, from 1 on. */
    public Guest node(int id) {
        return guest("node" + id);
    }

    /** The device server. */
    public DeviceServer server() {
        return server;
    }

    /** All counters of a node, as the management API has them. */
    public JsonNode counters(String node) {
        return server.api().get("/nodes/" + node + "/counters");
    }

    /** The IPv4 address of a node, as {@code images/guest} sets it. */
    public static String address(int id) {
        return "10.77.0." + id;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (shared) {
            context.getRoot()
                    .getStore(ExtensionContext.Namespace.create(Cluster.class))
                    .computeIfAbsent(this, Cluster::started, AutoCloseable.class);
        } else {
            start();
        }
    }

    private AutoCloseable started() {
        start();
        return this;
    }

    /** Boots everything; for programs that are not tests. */
    public void start() {
        try {
            directory = Files.createTempDirectory(Path.of("/tmp"), "bp-");
            List<String> arguments = new ArrayList<>(serverArguments);
            if (!arguments.contains("--topology")) {
                arguments.addAll(0, List.of("--nodes", Integer.toString(nodes)));
            }
            List<GuestImage> provided =
                    IntStream.rangeClosed(1, nodes).mapToObj(images).toList();
            server = DeviceServer.start(serverLauncher, Files.createDirectory(directory.resolve("run")), arguments);
            for (int id = 1; id <= nodes; id++) {
                boot(provided.get(id - 1), id);
            }
            guests.values().forEach(Guest::awaitBooted);
        } catch (RuntimeException | IOException e) {
            GuestFailure failure = new GuestFailure(e.getMessage() + "\n" + report(), e);
            try {
                close();
            } catch (RuntimeException again) {
                failure.addSuppressed(again);
            }
            throw failure;
        }
    }

    private void boot(GuestImage image, int id) throws IOException {
        String name = "node" + id;
        GuestConfig config = GuestConfig.named(name)
                .withMegabytes(megabytes)
                .withCpus(cpus)
                .withAppend("bp.node=" + id, "bp.ip=" + address(id) + "/24")
                .withDevices(server.devices(name))
                .withDevices(devices.apply(id));
        Guest g = new Guest(runner, image, config, Files.createDirectory(directory.resolve(name)));
        // Known before it starts: one that fails half-way is ended, too.
        guests.put(name, g);
        g.start();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (context.getExecutionException().isEmpty()) {
            guests.values().forEach(Guest::assertHealthy);
            if (!server.alive() && !server.killed()) {
                throw new GuestFailure("the device server has ended\n" + report());
            }
        }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        failure.addSuppressed(new GuestFailure("state of the cluster\n" + report()));
        throw failure;
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (!shared) {
            close();
        }
    }

    private String report() {
        List<String> parts = new ArrayList<>();
        guests.values().forEach(g -> parts.add(g.report()));
        if (server != null) {
            parts.add(server.report());
        }
        return String.join("\n", parts);
    }

    /** Ends everything. */
    @Override
    public void close() {
        try (Stream<Path> files = directory == null ? Stream.empty() : Files.walk(directory)) {
            guests.values().forEach(Guest::close);
            guests.clear();
            if (server != null) {
                server.close();
                server = null;
            }
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(p);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }
}
