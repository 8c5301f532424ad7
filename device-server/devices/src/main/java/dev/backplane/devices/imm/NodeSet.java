// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.util.Arrays;

/** The nodes that may use a ring or a memory; immutable. */
final class NodeSet {
    /** Every node of the partition. */
    static final NodeSet ALL = new NodeSet(null);

    private final short[] sorted;

    private NodeSet(short[] sorted) {
        this.sorted = sorted;
    }

    /** The nodes of these ids; an empty list means all. */
    static NodeSet of(short[] ids) {
        if (ids.length == 0) {
            return ALL;
        }
        short[] copy = ids.clone();
        Arrays.sort(copy);
        return new NodeSet(copy);
    }

    boolean contains(int node) {
        return sorted == null || Arrays.binarySearch(sorted, (short) node) >= 0;
    }

    /** The ids; none means all. */
    short[] ids() {
        return sorted == null ? new short[0] : sorted.clone();
    }
}
