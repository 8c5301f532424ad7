// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import dev.backplane.server.api.Response.Sink;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * One watcher's view of the messages of some sockets. Messages that the watcher is too slow for are left out, counted, and
 * told with the next one: the guest never waits for a watcher.
 */
public final class TraceStream implements AutoCloseable {
    /** What all watchers of a server see, and miss. */
    public static final class Counts {
        private final CounterGroup group = new CounterGroup("trace");
        private final Counter messages = group.counter("messages", "Messages shown to a watcher");
        private final Counter dropped = group.counter("dropped", "Messages left out because a watcher was too slow");

        public CounterGroup group() {
            return group;
        }
    }

    private final TraceFormat format;
    private final Sink sink;
    private final Counts counts;
    private final List<TraceTap> taps = new ArrayList<>();
    private long dropped;

    private TraceStream(TraceFormat format, Sink sink, Counts counts) {
        this.format = format;
        this.sink = sink;
        this.counts = counts;
    }

    /** Shows the messages of {@code taps} as lines of text until it is closed. */
    public static TraceStream lines(List<TraceTap> taps, Sink sink, Counts counts) {
        return open(new TextFormat(names(taps)), taps, sink, counts);
    }

    /** Shows the messages of {@code taps} as a pcapng capture until it is closed. */
    public static TraceStream pcapng(List<TraceTap> taps, Sink sink, Counts counts) {
        return open(new PcapngFormat(names(taps)), taps, sink, counts);
    }

    private static TraceStream open(TraceFormat format, List<TraceTap> taps, Sink sink, Counts counts) {
        TraceStream stream = new TraceStream(format, sink, counts);
        // Who has read the head knows that every message from then on is shown; and nothing comes before the head.
        synchronized (stream) {
            for (TraceTap tap : taps) {
                stream.taps.add(tap);
                tap.add(stream);
            }
            stream.offer(format.head());
        }
        return stream;
    }

    private static List<String> names(List<TraceTap> taps) {
        return taps.stream().map(TraceTap::name).toList();
    }

    synchronized void message(TracedMessage message) {
        if (offer(format.message(message, dropped))) {
            dropped = 0;
            counts.messages.increment();
        } else {
            dropped++;
            counts.dropped.increment();
        }
    }

    synchronized void connection(String socket, long nanos, boolean open) {
        offer(format.connection(socket, nanos, open));
    }

    private boolean offer(byte[] piece) {
        return piece.length == 0 || sink.offer(piece);
    }

    @Override
    public void close() {
        taps.forEach(tap -> tap.remove(this));
    }
}
