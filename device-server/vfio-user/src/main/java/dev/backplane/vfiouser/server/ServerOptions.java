// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.SpinBudget;
import java.time.Duration;

/**
 * How a device is served. Immutable.
 *
 * @param name short name for logs, threads and files in memory, such as {@code node1.agg}
 * @param spin how many threads may spin at a time; one object for all servers of a program
 * @param dmaTimeout how long the client may take to answer an access to its memory by message
 * @param takeover how long a new client waits for the one before it to leave; then it is turned away
 */
public record ServerOptions(String name, SpinBudget spin, Duration dmaTimeout, Duration takeover) {
    /** The usual values. */
    public static ServerOptions named(String name) {
        return new ServerOptions(name, SpinBudget.ofMachine(), Duration.ofSeconds(2), Duration.ofSeconds(1));
    }

    public ServerOptions withSpin(SpinBudget budget) {
        return new ServerOptions(name, budget, dmaTimeout, takeover);
    }

    public ServerOptions withDmaTimeout(Duration timeout) {
        return new ServerOptions(name, spin, timeout, takeover);
    }

    public ServerOptions withTakeover(Duration wait) {
        return new ServerOptions(name, spin, dmaTimeout, wait);
    }
}
