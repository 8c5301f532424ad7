// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.conformance;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.imm.ImmRegisters;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.vfiouser.conformance.SystemUnderTest;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.pci.PciFunction;
import java.nio.file.Path;
import java.util.Optional;

/** A socket of node 1 of the {@link ServerUnderTest}. */
final class ServedSystem implements SystemUnderTest {
    private final ServerUnderTest server;
    private final DeviceSocket socket;
    private final PciDevice device;
    private final Scratch scratch;

    /** Registered as a service. */
    public static final class AggregationDevice implements Provider {
        @Override
        public String name() {
            return "aggregation device";
        }

        @Override
        public SystemUnderTest start() throws Exception {
            ServerUnderTest s = ServerUnderTest.get();
            return new ServedSystem(s, s.victim().agg(), s.victim().vnic(), new Scratch(0, AggRegisters.SCRATCH));
        }
    }

    /** Registered as a service. */
    public static final class MessagingModule implements Provider {
        @Override
        public String name() {
            return "messaging module";
        }

        @Override
        public SystemUnderTest start() throws Exception {
            ServerUnderTest s = ServerUnderTest.get();
            return new ServedSystem(s, s.victim().imm(), s.victim().module(), new Scratch(0, ImmRegisters.SCRATCH));
        }
    }

    private ServedSystem(ServerUnderTest server, DeviceSocket socket, PciDevice device, Scratch scratch) {
        this.server = server;
        this.socket = socket;
        this.device = device;
        this.scratch = scratch;
    }

    @Override
    public Path socket() {
        return socket.server().path();
    }

    @Override
    public PciFunction function() {
        return device.function();
    }

    @Override
    public Scratch scratch() {
        return scratch;
    }

    @Override
    public boolean migratable() {
        return device instanceof Migratable;
    }

    /** The devices keep their way to the guest to themselves. */
    @Override
    public Optional<DeviceLink> link() {
        return Optional.empty();
    }

    @Override
    public int windows() {
        return socket.server().windows();
    }

    @Override
    public String report() {
        StringBuilder out = new StringBuilder("connected: " + socket.server().connected() + ", windows: " + windows());
        for (CounterGroup group : socket.counters()) {
            for (Counter c : group.all()) {
                if (c.get() != 0) {
                    out.append('\n').append(c);
                }
            }
        }
        return out.toString();
    }

    @Override
    public void close() {
        server.check();
    }
}
