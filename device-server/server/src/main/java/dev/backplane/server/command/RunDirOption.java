// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --run-dir}, which tells servers on one host apart. */
final class RunDirOption {
    @Option(
            names = "--run-dir",
            paramLabel = "DIR",
            description = "Directory of the server's sockets; by default $BACKPLANE_RUN_DIR, else"
                    + " $XDG_RUNTIME_DIR/backplane, else /tmp/backplane-$USER.")
    private Path directory;

    Path directory() {
        if (directory != null) {
            return directory.toAbsolutePath().normalize();
        }
        String own = System.getenv("BACKPLANE_RUN_DIR");
        if (own != null && !own.isEmpty()) {
            return Path.of(own).toAbsolutePath().normalize();
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty()) {
            return Path.of(runtime, "backplane");
        }
        return Path.of("/tmp/backplane-" + System.getProperty("user.name"));
    }

    /** The management socket of the server that uses the directory. */
    Path apiSocket() {
        return directory().resolve("backplane.sock");
    }
}
