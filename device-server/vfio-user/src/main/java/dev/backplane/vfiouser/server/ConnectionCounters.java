// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.protocol.StreamException;
import java.util.EnumMap;
import java.util.Map;

/** What happened on a device's connections, over all clients that came and went. */
final class ConnectionCounters {
    private final CounterGroup group = new CounterGroup("connection");
    final Counter connects = group.counter("connects", "Clients that connected");
    final Counter refusedClients =
            group.counter("clients_refused", "Clients that were turned away because another one is connected");
    final Counter messages = group.counter("messages", "Commands received");
    final Counter errors = group.counter("errors", "Commands answered with an error");
    final Counter posted = group.counter("posted", "Commands that wanted no answer");
    final Counter postedFailures = group.counter("posted_failures", "Commands that wanted no answer and failed");
    final Counter deviceFailures =
            group.counter("device_failures", "Commands during which the device model threw an exception");
    final Counter unsolicited = group.counter("unsolicited_replies", "Replies to nothing, or too late");
    final Counter dmaMessages = group.counter("dma_messages", "Accesses to guest memory by message");
    final Counter dmaFailures =
            group.counter("dma_failures", "Accesses by message that the client refused, or did not answer in time");
    final Counter ioEvents = group.counter("io_events", "Register writes by event descriptors instead of messages");
    final Counter ioEventsDropped =
            group.counter("io_events_dropped", "Register writes by event descriptors while the device was stopped");
    final Counter unmaskEvents = group.counter("unmask_events", "Unmaskings of the pin by an event descriptor");
    final Counter filesRefused =
            group.counter("files_refused", "Windows refused because of a file that is no memory or could make us wait");
    private final Map<StreamException.Reason, Counter> closes = new EnumMap<>(StreamException.Reason.class);

    ConnectionCounters() {
        for (StreamException.Reason r : StreamException.Reason.values()) {
            closes.put(r, group.counter("closed_" + r.label(), "Connections that ended: " + r.label()));
        }
    }

    CounterGroup group() {
        return group;
    }

    Counter closed(StreamException.Reason reason) {
        return closes.get(reason);
    }
}
