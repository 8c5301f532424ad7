// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.counter;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One count of something that happened. Any thread may add and any thread may read; adding neither allocates nor locks.
 * A data path adds once per turn, not once per frame.
 */
public final class Counter {
    private static final VarHandle VALUE;

    static {
        try {
            VALUE = MethodHandles.lookup().findVarHandle(Counter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final String doc;

    @SuppressWarnings("UnusedVariable") // accessed through VALUE
    private long value;

    Counter(String name, String doc) {
        this.name = name;
        this.doc = doc;
    }

    /** Lower-case name with underscores, without unit prefix, such as {@code tx_frames}. */
    public String name() {
        return name;
    }

    /** One line: what is counted. */
    public String doc() {
        return doc;
    }

    public void increment() {
        VALUE.getAndAdd(this, 1L);
    }

    /** Adds {@code n}; nothing happens for 0. */
    public void add(long n) {
        if (n != 0) {
            VALUE.getAndAdd(this, n);
        }
    }

    public long get() {
        return (long) VALUE.getOpaque(this);
    }

    @Override
    public String toString() {
        return name + "=" + get();
    }
}
