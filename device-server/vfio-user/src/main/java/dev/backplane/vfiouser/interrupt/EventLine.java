// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

import dev.backplane.vfiouser.natives.EventFd;

/** One eventfd that the client may have given. For rare events: it takes a lock, which nobody holds for long. */
final class EventLine {
    private final InterruptCounters counters;
    private EventFd eventFd;

    EventLine(InterruptCounters counters) {
        this.counters = counters;
    }

    synchronized void wire(EventFd fd) {
        if (eventFd != null) {
            eventFd.close();
        }
        eventFd = fd;
    }

    synchronized void signal() {
        if (eventFd == null) {
            counters.dropped().increment();
        } else if (eventFd.signal()) {
            counters.signalled().increment();
        } else {
            counters.coalesced().increment();
        }
    }

    synchronized boolean wired() {
        return eventFd != null;
    }
}
