// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;

/**
 * What became of a device's interrupts.
 *
 * @param group all of them
 * @param signalled eventfds written
 * @param pended signals of a masked vector
 * @param coalesced signals that found the eventfd's counter full (seen only where the kernel has no asynchronous I/O)
 * @param dropped signals of a vector without eventfd or outside the table, or without bus mastering
 */
record InterruptCounters(CounterGroup group, Counter signalled, Counter pended, Counter coalesced, Counter dropped) {
    static InterruptCounters create() {
        CounterGroup g = new CounterGroup("interrupts");
        return new InterruptCounters(
                g,
                g.counter("interrupts_signalled", "Interrupts signalled to the client"),
                g.counter("interrupts_pended", "Interrupts of a masked vector, kept until it is unmasked"),
                g.counter("interrupts_coalesced", "Interrupts whose eventfd was full, so that one is due already"),
                g.counter("interrupts_dropped", "Interrupts that nobody could receive"));
    }
}
