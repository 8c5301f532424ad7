// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import java.nio.file.Path;

/**
 * What is not part of the topology.
 *
 * @param runDirectory where the sockets are made
 * @param workers threads for what does not fit a turn, 1 to {@link #MAX_WORKERS}
 * @param debug whether device code runs on workers only
 * @param poll whether to poll instead of sleeping
 */
public record ServeOptions(Path runDirectory, int workers, boolean debug, boolean poll) {
    /** Most worker threads. */
    public static final int MAX_WORKERS = 256;

    public ServeOptions {
        if (workers < 1 || workers > MAX_WORKERS) {
            throw new IllegalArgumentException("--workers is 1 to " + MAX_WORKERS + ", not " + workers);
        }
    }
}
