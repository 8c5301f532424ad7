// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.GuestImage;

/** The clusters that several test classes share, since a boot under software emulation takes seconds. */
final class Clusters {
    /** Three nodes: enough to tell "the others" from "the target". */
    static final Cluster THREE = Cluster.of(3).shared();

    /**
     * Two nodes with two processors each, and so with two queue pairs. The second one can sleep to memory: QEMU writes a
     * kernel that is an ELF file into the guest's memory again at each reset, waking included, but not a compressed one.
     */
    static final Cluster TWO_QUEUES = Cluster.of(2)
            .withGuests(256, 2)
            .withImages(node ->
                    node == 2 ? GuestImage.fromEnvironment().withCompressedKernel() : GuestImage.fromEnvironment())
            .shared();

    private Clusters() {}
}
