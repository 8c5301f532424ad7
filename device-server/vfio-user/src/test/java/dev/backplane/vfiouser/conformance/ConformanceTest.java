// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.pci.Bar;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What all classes of the suite share: a fresh system for each test, raw peers that are closed after it, and a report of
 * the exchange when it fails.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("providers")
@ExtendWith(FailureReport.class)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
public abstract class ConformanceTest {
    /** How the system under test is started. */
    @Parameter
    protected Named provider;

    /** The system under test, fresh. */
    protected SystemUnderTest system;

    private final List<RawPeer> peers = new ArrayList<>();
    private final List<Integer> descriptors = new ArrayList<>();

    /** A provider with a name for the report. */
    public record Named(SystemUnderTest.Provider provider) {
        @Override
        public String toString() {
            return provider.name();
        }
    }

    /** The registered systems; in this module there are none, and the library's own device takes their place. */
    static Stream<Named> providers() {
        List<SystemUnderTest.Provider> registered = ServiceLoader.load(SystemUnderTest.Provider.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return (registered.isEmpty() ? List.of(new ScratchSystem.ScratchProvider()) : registered)
                .stream().map(Named::new);
    }

    @BeforeEach
    void start() throws Exception {
        system = provider.provider().start();
    }

    @AfterEach
    void stop() throws Exception {
        peers.forEach(RawPeer::close);
        descriptors.forEach(Fds::close);
        system.close();
    }

    /** A peer that has connected and said nothing. */
    protected RawPeer connect() {
        return keep(RawPeer.connect(system.socket()));
    }

    /** A peer that has negotiated as QEMU does. */
    protected RawPeer peer() {
        return keep(RawPeer.negotiated(system.socket()));
    }

    /** Has the peer closed, and in the report, after the test. */
    protected RawPeer keep(RawPeer peer) {
        peers.add(peer);
        return peer;
    }

    /** A file of shared memory, closed after the test. */
    protected int memfd(long bytes) {
        return keep(Fds.memfd(bytes));
    }

    /** An event counter, closed after the test. */
    protected int eventfd() {
        return keep(Fds.eventfd());
    }

    /** Has the descriptor closed after the test. */
    protected int keep(int fd) {
        descriptors.add(fd);
        return fd;
    }

    /** Waits for what must become true soon; fails with {@code what} when it does not. */
    protected static void eventually(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + RawPeer.LIMIT_MILLIS * 1_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("never: " + what);
            }
            Thread.sleep(1);
        }
    }

    /** The mapped area of the device that is first found, as region index and area; null when there is none. */
    protected Bar mappedBar() {
        return system.function().bars().stream()
                .filter(b -> !b.mapped().isEmpty())
                .findFirst()
                .orElse(null);
    }

    /** Text for the report of a failure. */
    String report() {
        StringBuilder out = new StringBuilder();
        int n = 0;
        for (RawPeer p : peers) {
            out.append("--- exchange of peer ").append(n++).append('\n');
            out.append(p.transcript()).append('\n');
        }
        if (system != null) {
            out.append("--- server\n").append(system.report()).append('\n');
        }
        return out.toString();
    }
}
