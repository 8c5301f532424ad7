// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which ports of a partition have members of which IP multicast groups, in which VLANs, and where multicast routers and
 * queriers are (RFC 4541). An entry is one port's membership in one group; it expires unless it is refreshed. As the
 * {@link MacTable} the table is set-associative and of fixed size. A port that has too many memberships, or for whose
 * membership there is no room, gets the frames of all groups for as long: a lack of room never costs a member a frame.
 *
 * <p>Any thread, no lock. To replace an entry, a thread takes its key from the old value to {@link #BUSY}, stores the time
 * of expiry, then the new key. Who reads between sees no entry; reports are sent again and again.
 */
final class GroupTable {
    /** Group membership interval (RFC 3376, 8.4): twice the default query interval, and the time to respond. */
    static final int MEMBER_SECONDS = 260;
    /** Other querier present interval (RFC 3376, 8.5). */
    static final int QUERIER_SECONDS = 255;
    /** After a member has left, others at its port have this long to answer the querier (RFC 3376, 8.8 to 8.10). */
    static final int LAST_MEMBER_SECONDS = 2;

    /** Memberships of a partition, and how many of them one port can have. */
    static final int ENTRIES = 8192;

    static final int PER_PORT = 256;

    private static final int WAYS = 8;
    private static final int SETS = ENTRIES / WAYS;
    private static final long EMPTY = 0;
    private static final long BUSY = -1;

    // Key: VLAN id in bits 0 to 11, port plus 2 in bits 12 to 25, the group's 32 bits from bit 26 on, IPv6 in bit 58.
    private static final int ANYBODY = 1;
    private static final int PORT_SHIFT = 12;
    private static final int GROUP_SHIFT = 26;
    private static final int V6_SHIFT = 58;
    private static final int PORT_MASK = 0x3fff;

    private static final int V4_ROUTERS = 4096;

    private final AtomicLongArray keys = new AtomicLongArray(ENTRIES);
    private final AtomicIntegerArray expiry = new AtomicIntegerArray(ENTRIES);
    private final AtomicIntegerArray memberships;
    /** For each port, until when it gets all groups. */
    private final AtomicIntegerArray open;
    /** For each VLAN id, of IPv4 and then of IPv6, until when there is a querier. */
    private final AtomicIntegerArray queriers = new AtomicIntegerArray(2 * V4_ROUTERS);

    GroupTable(int ports) {
        this.memberships = new AtomicIntegerArray(ports);
        this.open = new AtomicIntegerArray(ports);
    }

    /** A group in a VLAN, of the low 32 bits of its MAC address (RFC 1112, 6.4; RFC 2464, 7). */
    static long group(int vlan, boolean v6, int low) {
        return (v6 ? 1L : 0L) << V6_SHIFT | (low & 0xffff_ffffL) << GROUP_SHIFT | vlan;
    }

    /** All routers of a VLAN: of a group address that is always flooded, and so never has entries of its own. */
    private static long routers(int vlan, boolean v6) {
        return group(vlan, v6, 0);
    }

    /** Whether there is a querier, without which memberships would not be refreshed. */
    boolean active(int vlan, boolean v6, int now) {
        return queriers.getOpaque(v6 ? V4_ROUTERS + vlan : vlan) > now;
    }

    /** A port has sent a query, or something else that only routers send. */
    void router(int vlan, boolean v6, int port, boolean query, int now) {
        if (query) {
            queriers.setOpaque(v6 ? V4_ROUTERS + vlan : vlan, now + QUERIER_SECONDS);
        }
        if (!put(routers(vlan, v6) | port(port), now + QUERIER_SECONDS, port, now)) {
            open(port, now + QUERIER_SECONDS);
        }
    }

    /** A member has reported; returns false when there is no room, so that the port gets all groups for a while. */
    boolean join(long group, int port, int now) {
        int until = now + MEMBER_SECONDS;
        boolean known = put(group | (long) ANYBODY << PORT_SHIFT, until, -1, now);
        if (known && put(group | port(port), until, port, now)) {
            return true;
        }
        open(port, until);
        return false;
    }

    /** A member has left; unless another one at the port reports, the port is none any more in a moment. */
    void leave(long group, int port, int now) {
        int at = find(group | port(port));
        if (at >= 0) {
            int until = expiry.get(at);
            if (until > now + LAST_MEMBER_SECONDS) {
                expiry.compareAndSet(at, until, now + LAST_MEMBER_SECONDS);
            }
        }
    }

    /** Whether anybody is known to be a member. */
    boolean known(long group, int now) {
        return alive(group | (long) ANYBODY << PORT_SHIFT, now);
    }

    /** Whether frames for the group have to go to the port. */
    boolean wanted(long group, int port, int now) {
        return alive(group | port(port), now) || router(group, port, now);
    }

    /** Whether there is a router of the group's VLAN at the port, or the port gets all groups. */
    boolean router(long group, int port, int now) {
        boolean v6 = group >>> V6_SHIFT != 0;
        return open.getOpaque(port) > now || alive(routers((int) group & Frame.VLAN_ID_MASK, v6) | port(port), now);
    }

    /** The port gets all groups until then. */
    void open(int port, int until) {
        open.accumulateAndGet(port, until, Math::max);
    }

    private static long port(int port) {
        return (long) (port + 2) << PORT_SHIFT;
    }

    private boolean alive(long key, int now) {
        int at = find(key);
        return at >= 0 && expiry.getAcquire(at) > now && keys.getAcquire(at) == key;
    }

    private int find(long key) {
        int set = set(key);
        for (int at = set; at < set + WAYS; at++) {
            if (keys.getAcquire(at) == key) {
                return at;
            }
        }
        return -1;
    }

    /** Refreshes or adds an entry of {@code owner}, or of nobody if that is negative. */
    private boolean put(long key, int until, int owner, int now) {
        int at = find(key);
        if (at >= 0) {
            expiry.setRelease(at, until);
            if (keys.getAcquire(at) == key) {
                return true;
            }
        }
        if (owner >= 0 && memberships.getAndIncrement(owner) >= PER_PORT) {
            memberships.getAndDecrement(owner);
            return false;
        }
        int set = set(key);
        for (int i = set; i < set + WAYS; i++) {
            long old = keys.getAcquire(i);
            boolean free = old == EMPTY || (old != BUSY && expiry.getAcquire(i) <= now);
            if (free && keys.compareAndSet(i, old, BUSY)) {
                if (old != EMPTY) {
                    release(old);
                }
                expiry.setRelease(i, until);
                keys.setRelease(i, key);
                return true;
            }
        }
        if (owner >= 0) {
            memberships.getAndDecrement(owner);
        }
        return false;
    }

    /** Forgets what has expired, so that a port may have others instead; from time to time. */
    void age(int now) {
        for (int at = 0; at < ENTRIES; at++) {
            long old = keys.getAcquire(at);
            if (old != EMPTY && old != BUSY && expiry.getAcquire(at) <= now && keys.compareAndSet(at, old, BUSY)) {
                release(old);
                keys.setRelease(at, EMPTY);
            }
        }
    }

    private void release(long key) {
        int port = (int) (key >>> PORT_SHIFT & PORT_MASK) - 2;
        if (port >= 0) {
            memberships.getAndDecrement(port);
        }
    }

    private static int set(long key) {
        long h = key * 0x9e37_79b9_7f4a_7c15L;
        return (int) (h >>> 40) % SETS * WAYS;
    }
}
