// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/** Requests that wait for room or for an element, in the order in which they came. Belongs to a ring's loop. */
final class WaitList {
    private Request first;
    private Request last;

    boolean isEmpty() {
        return first == null;
    }

    void add(Request r) {
        r.next = null;
        if (last == null) {
            first = r;
        } else {
            last.next = r;
        }
        last = r;
    }

    /** Puts back what {@link #removeFirst} gave. */
    void addFirst(Request r) {
        r.next = first;
        first = r;
        if (last == null) {
            last = r;
        }
    }

    /** Removes the first, which there is. */
    Request removeFirst() {
        Request r = first;
        first = r.next;
        if (first == null) {
            last = null;
        }
        r.next = null;
        return r;
    }

    /** Takes out all requests that are not valid any more or whose deadline has passed, as a list in their order. */
    Request removeEnded(long now) {
        Request ended = null;
        Request lastEnded = null;
        Request kept = null;
        Request r = first;
        first = null;
        while (r != null) {
            Request following = r.next;
            r.next = null;
            if (r.deadline <= now || !r.valid()) {
                if (lastEnded == null) {
                    ended = r;
                } else {
                    lastEnded.next = r;
                }
                lastEnded = r;
            } else {
                if (kept == null) {
                    first = r;
                } else {
                    kept.next = r;
                }
                kept = r;
            }
            r = following;
        }
        last = kept;
        return ended;
    }

    /** The earliest deadline, or {@link Long#MAX_VALUE} if nothing waits. */
    long deadline() {
        long earliest = Long.MAX_VALUE;
        for (Request r = first; r != null; r = r.next) {
            earliest = Math.min(earliest, r.deadline);
        }
        return earliest;
    }
}
