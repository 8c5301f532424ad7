// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.util.BitSet;
import java.util.StringJoiner;

/**
 * Which VLANs a port carries, and how (IEEE 802.1Q). Immutable.
 *
 * <p>An <em>access</em> port is in one VLAN; its frames are untagged, and tagged ones from it are refused. A
 * <em>trunk</em> port carries several: untagged frames are those of its native VLAN, all others are tagged.
 */
public final class VlanPolicy {
    /** Smallest and largest id of a VLAN. */
    public static final int MIN_ID = 1;

    public static final int MAX_ID = 4094;

    /** What {@link #classify} gives for a frame that the port does not carry. */
    public static final int REFUSED = -1;

    private static final int PRIORITY_MASK = 0xf000;

    private final boolean trunk;
    private final int untagged;
    private final long[] carried = new long[64];

    private VlanPolicy(boolean trunk, int untagged, BitSet vlans) {
        this.trunk = trunk;
        this.untagged = untagged;
        vlans.stream().forEach(id -> carried[id >>> 6] |= 1L << id);
    }

    /** A port in VLAN {@code id}. */
    public static VlanPolicy access(int id) {
        BitSet one = new BitSet();
        one.set(requireId(id));
        return new VlanPolicy(false, id, one);
    }

    /** A port that carries {@code vlans}, and {@code nativeId} untagged. */
    public static VlanPolicy trunk(int nativeId, BitSet vlans) {
        vlans.stream().forEach(VlanPolicy::requireId);
        BitSet all = (BitSet) vlans.clone();
        all.set(requireId(nativeId));
        return new VlanPolicy(true, nativeId, all);
    }

    /** The default: a trunk of all VLANs with native VLAN 1, so that nodes which know nothing of VLANs meet there. */
    public static VlanPolicy all() {
        BitSet every = new BitSet();
        every.set(MIN_ID, MAX_ID + 1);
        return trunk(1, every);
    }

    private static int requireId(int id) {
        if (id < MIN_ID || id > MAX_ID) {
            throw new IllegalArgumentException("a VLAN's id is " + MIN_ID + " to " + MAX_ID + ", not " + id);
        }
        return id;
    }

    /** Tag of an untagged frame from this port. */
    int classifyUntagged() {
        return untagged;
    }

    /** Tag, priority included, of a frame from this port with the tag {@code tci}; or {@link #REFUSED}. */
    int classify(int tci) {
        if (!trunk) {
            return REFUSED;
        }
        int id = tci & Frame.VLAN_ID_MASK;
        // Id 0 is a priority without a VLAN (IEEE 802.1Q, table 9-2).
        int vlan = id == 0 ? untagged : id;
        return carries(vlan) ? (tci & PRIORITY_MASK) | vlan : REFUSED;
    }

    /** Whether frames of VLAN {@code id} go to this port. */
    boolean carries(int id) {
        return (carried[id >>> 6] & 1L << id) != 0;
    }

    /** Whether frames of VLAN {@code id} are tagged when they go to this port. */
    public boolean tagged(int id) {
        return id != untagged;
    }

    /** As a topology file has it: {@code all}, {@code access 10}, {@code trunk 1,5,10-20 native 1}. */
    @Override
    public String toString() {
        BitSet vlans = BitSet.valueOf(carried);
        if (!trunk) {
            return "access " + untagged;
        }
        if (untagged == MIN_ID && vlans.cardinality() == MAX_ID) {
            return "all";
        }
        StringJoiner ranges = new StringJoiner(",", "trunk ", " native " + untagged);
        for (int first = vlans.nextSetBit(0); first >= 0; ) {
            int end = vlans.nextClearBit(first);
            ranges.add(end - first == 1 ? "" + first : first + "-" + (end - 1));
            first = vlans.nextSetBit(end);
        }
        return ranges.toString();
    }
}
