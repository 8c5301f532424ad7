// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Cluster;

/** The clusters that several test classes share, since a boot under software emulation takes seconds. */
final class Clusters {
    /** Three nodes: enough to tell "the others" from "the target". */
    static final Cluster THREE = Cluster.of(3).shared();

    private Clusters() {}
}
