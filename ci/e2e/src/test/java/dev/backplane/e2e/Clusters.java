// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Cluster;

/** The clusters that several test classes share, since a boot under software emulation takes seconds. */
final class Clusters {
    /** Three nodes: enough to tell "the others" from "the target". */
    static final Cluster THREE = Cluster.of(3).shared();

    /** Two nodes with two processors each, and so with two queue pairs. */
    static final Cluster TWO_QUEUES = Cluster.of(2).withGuests(256, 2).shared();

    private Clusters() {}
}
