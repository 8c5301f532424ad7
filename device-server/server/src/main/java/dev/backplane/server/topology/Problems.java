// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import java.util.ArrayList;
import java.util.List;

/** Collects what is wrong with a file, so that its author sees all of it at once. */
final class Problems {
    private final String file;
    private final List<String> lines = new ArrayList<>();

    Problems(String file) {
        this.file = file;
    }

    /** Notes a problem, as {@code file:line: what}. */
    void add(int line, String what) {
        lines.add(file + ":" + line + ": " + what);
    }

    /** How many there are. */
    int count() {
        return lines.size();
    }

    /** Throws what has been noted, if anything has. */
    void throwIfAny() throws TopologyException {
        if (!lines.isEmpty()) {
            throw new TopologyException(String.join("\n", lines));
        }
    }
}
