// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder with a short path, which goes when it is closed. */
final class Scratch implements AutoCloseable {
    private final Path directory;

    Scratch() {
        try {
            directory = Files.createTempDirectory(Path.of("/tmp"), "bps-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Path path(String name) {
        return directory.resolve(name);
    }

    Path folder(String name) {
        try {
            return Files.createDirectories(path(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        remove(directory);
    }

    /** Removes a folder with all that is in it. */
    static void remove(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path p : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(p);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
