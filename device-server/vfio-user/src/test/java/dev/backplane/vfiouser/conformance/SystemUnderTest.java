// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.pci.PciFunction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A vfio-user server that listens, with one device behind it. The suite runs once for each {@link Provider} that is
 * registered as a service; a module that has devices of its own registers them and scans this module's test jar.
 */
public interface SystemUnderTest extends AutoCloseable {
    /** Starts systems of one kind. */
    interface Provider {
        /** Name of the device, for reports. */
        String name();

        /**
         * Makes one ready for a test: nobody is connected, and the device is as after power-on. It may have been started
         * for this test or have served others before.
         */
        SystemUnderTest start() throws Exception;
    }

    /**
     * A 32-bit register that keeps what is written, returns to its first value in a reset, and has no effect. A device need
     * not know narrower accesses to it.
     *
     * @param bar its BAR
     * @param offset its offset, a multiple of 4
     */
    record Scratch(int bar, long offset) {}

    /** Where it listens. */
    Path socket();

    /** What its device looks like on the bus. */
    PciFunction function();

    /** A register to write to and read back. */
    Scratch scratch();

    /** Whether the device can be saved and restored. */
    boolean migratable();

    /** The device's own way to the guest that is connected, when the test may use it. */
    Optional<DeviceLink> link();

    /** Number of the device's windows right now. */
    int windows();

    /** Counters and state, for the report of a failure. */
    String report();

    /**
     * Ends its use, after all of the test's clients have closed their sockets; throws when they have left anything
     * behind. A system that was started for the test is stopped, and all its threads and descriptors are gone.
     */
    @Override
    void close() throws IOException;
}
