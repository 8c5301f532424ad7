// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A folder whose path is short enough for Unix sockets, removed after the class, even if its cluster did not boot. To be
 * registered before the cluster whose processes use it, so that it goes after them.
 */
final class ScratchFolder implements AfterAllCallback {
    private final Path path;

    ScratchFolder() {
        try {
            path = Files.createTempDirectory(Path.of("/tmp"), "bp-e2e-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path() {
        return path;
    }

    /** Writes a file; returns its path. */
    Path write(String name, String text) {
        try {
            return Files.writeString(path.resolve(name), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(p);
            }
        }
    }
}
