// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.pci.PciFunction;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.server.ServerOptions;
import dev.backplane.vfiouser.server.VfioUserServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** The library's own server with a {@link ScratchDevice}. */
public final class ScratchSystem implements SystemUnderTest {
    /** What the suite runs against where no other system is registered. */
    public static final class ScratchProvider implements Provider {
        @Override
        public String name() {
            return "scratch device";
        }

        @Override
        public SystemUnderTest start() throws IOException {
            return new ScratchSystem();
        }
    }

    private static final int SCRATCH_REGISTER = 0x10;

    private final ScratchDevice device = new ScratchDevice();
    private final Path directory;
    private final VfioUserServer server;

    /** Starts to listen in a directory of its own. */
    public ScratchSystem() throws IOException {
        this(ServerOptions.named("scratch")
                .withDmaTimeout(Duration.ofSeconds(1))
                .withSpin(new SpinBudget(0)));
    }

    /** Starts to listen in a directory of its own. */
    public ScratchSystem(ServerOptions options) throws IOException {
        directory = Files.createTempDirectory("vfio-user");
        server = VfioUserServer.listen(device, directory.resolve("scratch.sock"), options);
    }

    @Override
    public Path socket() {
        return server.path();
    }

    @Override
    public PciFunction function() {
        return device.function();
    }

    @Override
    public Scratch scratch() {
        return new Scratch(ScratchDevice.REGISTERS, SCRATCH_REGISTER);
    }

    @Override
    public boolean migratable() {
        return true;
    }

    @Override
    public Optional<DeviceLink> link() {
        return device.link();
    }

    @Override
    public int windows() {
        return server.windows();
    }

    /** The server, for what the interface does not have. */
    public VfioUserServer server() {
        return server;
    }

    @Override
    public String report() {
        StringBuilder out = new StringBuilder("connected: " + server.connected() + ", windows: " + windows());
        for (CounterGroup group : server.counters()) {
            for (Counter c : group.all()) {
                if (c.get() != 0) {
                    out.append('\n').append(c);
                }
            }
        }
        return out.toString();
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(server.path());
        Files.delete(directory);
    }
}
