// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Where addresses are: for each VLAN and address the port, learnt from what ports send or fixed. As in a hardware
 * switch the table is set-associative: an address can be in {@link #WAYS} places only, so that its size is bounded by
 * construction and a lookup always costs the same. A full set forgets its oldest learnt address.
 *
 * <p>Any thread, no lock. An entry is two longs, key and value. To replace one, a thread takes the key from its old
 * value to {@link #BUSY}, stores the value, then the new key; whoever reads the value between two reads of the same key
 * has a pair that belongs together.
 */
final class MacTable {
    /** What {@link #find} gives for an address that is not in the table. */
    static final int UNKNOWN = -1;

    /** What {@link #learn} did. */
    enum Learnt {
        KNOWN,
        ADDED,
        MOVED,
        /** The address is fixed elsewhere, or the port has learnt as many as it may. */
        REFUSED
    }

    static final int WAYS = 8;

    /** VLAN id of addresses that are fixed in all VLANs: those of the nodes themselves. */
    static final int ANY_VLAN = 0;

    private static final long MAC_MASK = 0xffff_ffff_ffffL;

    private static final long EMPTY = 0;
    private static final long BUSY = -1L;

    // Value: port in bits 0 to 15, fixed in bit 16, time of the latest frame in seconds in bits 32 to 63.
    private static final long PORT_MASK = 0xffff;
    private static final long FIXED = 0x1_0000;
    private static final int TIME_SHIFT = 32;

    private final AtomicLongArray keys;
    private final AtomicLongArray values;
    private final AtomicIntegerArray learntByPort;
    private final int sets;
    private final int perPort;
    private final AtomicInteger version = new AtomicInteger();

    /**
     * An empty table.
     *
     * @param entries about how many addresses it holds
     * @param ports number of ports
     * @param perPort most addresses learnt from one port
     */
    MacTable(int entries, int ports, int perPort) {
        this.sets = Integer.highestOneBit(Math.max(1, entries / WAYS) * 2 - 1);
        this.keys = new AtomicLongArray(sets * WAYS);
        this.values = new AtomicLongArray(sets * WAYS);
        this.learntByPort = new AtomicIntegerArray(ports);
        this.perPort = perPort;
    }

    /** The key of an address in a VLAN. */
    static long key(int vlan, long mac) {
        return (long) vlan << 48 | mac;
    }

    /** Changes whenever an address is added, moved or removed: what was looked up before may be wrong then. */
    int version() {
        return version.get();
    }

    /** The port of an address, or {@link #UNKNOWN}; what is fixed in {@link #ANY_VLAN} counts for each VLAN. */
    int find(long key) {
        int port = exact(key);
        return port == UNKNOWN ? exact(key & MAC_MASK) : port;
    }

    private int exact(long key) {
        int at = find0(key);
        if (at < 0) {
            return UNKNOWN;
        }
        long value = values.getAcquire(at);
        return keys.getAcquire(at) == key ? (int) (value & PORT_MASK) : UNKNOWN;
    }

    /** Notes that {@code port} has sent from the address at {@code seconds}. */
    Learnt learn(long key, int port, int seconds) {
        while (true) {
            int at = find0(key);
            if (at < 0) {
                int fixed = exact(key & MAC_MASK);
                return fixed == UNKNOWN ? add(key, port, seconds) : fixed == port ? Learnt.KNOWN : Learnt.REFUSED;
            }
            long value = values.getAcquire(at);
            if (keys.getAcquire(at) != key) {
                continue;
            }
            int known = (int) (value & PORT_MASK);
            if ((value & FIXED) != 0) {
                return known == port ? Learnt.KNOWN : Learnt.REFUSED;
            }
            if (known == port) {
                if ((int) (value >>> TIME_SHIFT) != seconds) {
                    values.compareAndSet(at, value, value(port, seconds));
                }
                return Learnt.KNOWN;
            }
            if (!reserve(port)) {
                return Learnt.REFUSED;
            }
            if (values.compareAndSet(at, value, value(port, seconds))) {
                learntByPort.getAndDecrement(known);
                changed();
                return Learnt.MOVED;
            }
            learntByPort.getAndDecrement(port);
        }
    }

    /**
     * Fixes an address at a port, for ever or until {@link #remove}; forgets it elsewhere.
     *
     * @return false when all places that it could have are taken by fixed addresses
     */
    boolean fix(long key, int port) {
        remove(key);
        long fixed = port | FIXED;
        while (true) {
            int at = victim(key);
            if (at < 0) {
                return false;
            }
            if (replace(at, key, fixed)) {
                return true;
            }
        }
    }

    /** Forgets an address. */
    void remove(long key) {
        for (int at; (at = find0(key)) >= 0; ) {
            replace(at, EMPTY, 0);
        }
    }

    /** Forgets what was learnt from a port; what is fixed stays. */
    void flush(int port) {
        for (int at = 0; at < keys.length(); at++) {
            long value = values.getAcquire(at);
            if ((value & PORT_MASK) == port && (value & FIXED) == 0) {
                replace(at, EMPTY, 0);
            }
        }
    }

    /** Forgets what has not been seen since {@code oldest}, in seconds; returns how many. */
    int age(int oldest) {
        int n = 0;
        for (int at = 0; at < keys.length(); at++) {
            long value = values.getAcquire(at);
            if ((value & FIXED) == 0 && (int) (value >>> TIME_SHIFT) < oldest && replace(at, EMPTY, 0)) {
                n++;
            }
        }
        return n;
    }

    /** One address in the table. */
    record Entry(long mac, int vlan, int port, boolean fixed, int seconds) {}

    /** All addresses, as of now. */
    List<Entry> entries() {
        List<Entry> all = new ArrayList<>();
        for (int at = 0; at < keys.length(); at++) {
            long key = keys.getAcquire(at);
            long value = values.getAcquire(at);
            if (key != EMPTY && key != BUSY && keys.getAcquire(at) == key) {
                all.add(new Entry(
                        key & MAC_MASK, (int) (key >>> 48), (int) (value & PORT_MASK), (value & FIXED) != 0, (int)
                                (value >>> TIME_SHIFT)));
            }
        }
        return all;
    }

    /** Addresses learnt from a port. */
    int learnt(int port) {
        return learntByPort.get(port);
    }

    private Learnt add(long key, int port, int seconds) {
        if (!reserve(port)) {
            return Learnt.REFUSED;
        }
        int at = victim(key);
        if (at >= 0 && replace(at, key, value(port, seconds))) {
            return Learnt.ADDED;
        }
        // All fixed, or a neighbour was faster: the next frame will do.
        learntByPort.getAndDecrement(port);
        return Learnt.REFUSED;
    }

    private boolean reserve(int port) {
        if (learntByPort.getAndIncrement(port) < perPort) {
            return true;
        }
        learntByPort.getAndDecrement(port);
        return false;
    }

    /** An empty place for the key, else that of the oldest learnt address, else -1. */
    private int victim(long key) {
        int set = set(key);
        int best = -1;
        long oldest = Long.MAX_VALUE;
        for (int at = set; at < set + WAYS; at++) {
            long k = keys.getAcquire(at);
            if (k == EMPTY) {
                return at;
            }
            long value = values.getAcquire(at);
            if (k != BUSY && (value & FIXED) == 0 && value >>> TIME_SHIFT < oldest) {
                oldest = value >>> TIME_SHIFT;
                best = at;
            }
        }
        return best;
    }

    /** Puts another entry, or none, in a place; false when somebody else was faster. */
    private boolean replace(int at, long key, long value) {
        long old = keys.getAcquire(at);
        if (old == BUSY || (old == EMPTY && key == EMPTY) || !keys.compareAndSet(at, old, BUSY)) {
            return false;
        }
        long oldValue = values.getAndSet(at, value);
        keys.setRelease(at, key);
        if (old != EMPTY && (oldValue & FIXED) == 0) {
            learntByPort.getAndDecrement((int) (oldValue & PORT_MASK));
        }
        changed();
        return true;
    }

    private void changed() {
        version.getAndIncrement();
    }

    private int find0(long key) {
        int set = set(key);
        for (int at = set; at < set + WAYS; at++) {
            if (keys.getAcquire(at) == key) {
                return at;
            }
        }
        return -1;
    }

    private int set(long key) {
        long h = key * 0x9e37_79b9_7f4a_7c15L;
        return ((int) (h >>> 40) & (sets - 1)) * WAYS;
    }

    private static long value(int port, int seconds) {
        return port | (long) seconds << TIME_SHIFT;
    }
}
