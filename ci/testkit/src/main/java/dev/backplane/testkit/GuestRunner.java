// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/** Runs QEMU: directly, or in a container. */
public interface GuestRunner {
    /** The system property that says how: {@code local}, the default, or {@code container}. */
    String PROPERTY = "backplane.runner";

    /** The one that the system property chooses. */
    static GuestRunner chosen() {
        String how = System.getProperty(PROPERTY, "local");
        return switch (how) {
            case "local" -> new LocalQemu();
            case "container" -> new ContainerQemu();
            default -> throw new IllegalArgumentException(PROPERTY + " is local or container, not " + how);
        };
    }

    /** A QEMU that runs. */
    interface Instance {
        /** What QEMU writes to its standard output, the guest's console. */
        InputStream console();

        /** What QEMU wrote to its standard error so far. */
        String errors();

        /** QEMU's process id on this host, or -1 where it has none that this process can see. */
        default long pid() {
            return -1;
        }

        /** Whether QEMU still runs. */
        boolean alive();

        /** Ends QEMU at once, as SIGKILL does, and waits until it is gone. */
        void kill();

        /** Calls {@code action} once QEMU has ended, from another thread; at once if it has ended before. */
        void onExit(Runnable action);
    }

    /**
     * Starts QEMU.
     *
     * @param name the guest's name, for the names of threads and files
     * @param arguments QEMU's arguments without the program
     * @param directory folder for the guest's sockets and files, which QEMU has to see under the same path
     */
    Instance start(String name, GuestImage image, List<String> arguments, Path directory) throws IOException;
}
