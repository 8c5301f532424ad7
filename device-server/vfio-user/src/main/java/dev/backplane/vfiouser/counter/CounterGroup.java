// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.counter;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The counters of one thing (a connection, a port, a context table) in the order of their declaration. Counters are
 * declared while the thing is built; afterwards the group does not change and any thread may read it.
 */
public final class CounterGroup {
    private final String name;
    private final Map<String, Counter> counters = Collections.synchronizedMap(new LinkedHashMap<>());

    /** {@code name} tells what is counted, such as {@code agg}; which node it belongs to is the owner's knowledge. */
    public CounterGroup(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /** Declares a counter. Throws {@link IllegalArgumentException} when the name is taken. */
    public Counter counter(String counter, String doc) {
        Counter c = new Counter(counter, doc);
        if (counters.putIfAbsent(counter, c) != null) {
            throw new IllegalArgumentException(name + ": counter " + counter + " is declared twice");
        }
        return c;
    }

    /** All counters, in the order of their declaration. */
    public Collection<Counter> all() {
        return Collections.unmodifiableCollection(counters.values());
    }

    /** The value of the counter of that name. Throws {@link IllegalArgumentException} when there is none. */
    public long get(String counter) {
        Counter c = counters.get(counter);
        if (c == null) {
            throw new IllegalArgumentException(name + " has no counter " + counter);
        }
        return c.get();
    }

    @Override
    public String toString() {
        return name + all();
    }
}
