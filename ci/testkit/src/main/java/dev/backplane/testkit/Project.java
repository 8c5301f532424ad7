// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the project that a test runs in. */
final class Project {
    private Project() {}

    /** The nearest folder above the current one, or above {@code backplane.project}, that has {@code images/provide}. */
    static Path root() {
        Path start = Path.of(System.getProperty("backplane.project", "")).toAbsolutePath();
        for (Path p = start; p != null; p = p.getParent()) {
            if (Files.isExecutable(p.resolve("images/provide"))) {
                return p;
            }
        }
        throw new IllegalStateException("no images/provide in " + start + " or above it");
    }
}
