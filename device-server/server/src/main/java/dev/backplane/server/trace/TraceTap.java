// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import dev.backplane.vfiouser.server.MessageTrace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * Where the messages of one socket can be watched, by any number of {@link TraceStream}s. While there is none, the socket's
 * server does not trace at all.
 */
public final class TraceTap {
    private final String name;
    private final Consumer<MessageTrace> control;
    private final List<TraceStream> streams = new CopyOnWriteArrayList<>();
    private final MessageTrace feed = new Feed();

    /** {@code control} sets or, with null, removes the trace of the socket's server. */
    public TraceTap(String name, Consumer<MessageTrace> control) {
        this.name = name;
        this.control = control;
    }

    /** Name of the socket, such as {@code node1.agg}. */
    public String name() {
        return name;
    }

    synchronized void add(TraceStream stream) {
        streams.add(stream);
        control.accept(feed);
    }

    synchronized void remove(TraceStream stream) {
        streams.remove(stream);
        if (streams.isEmpty()) {
            control.accept(null);
        }
    }

    /** Called on the threads of the socket's connection, which wait. */
    private final class Feed implements MessageTrace {
        @Override
        public void message(boolean fromClient, MemorySegment memory, long at, int bytes, int fds) {
            byte[] kept = new byte[Math.min(bytes, TracedMessage.MAX_BYTES)];
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, at, kept, 0, kept.length);
            TracedMessage message = new TracedMessage(name, TracedMessage.now(), fromClient, fds, kept, bytes);
            for (TraceStream s : streams) {
                s.message(message);
            }
        }

        @Override
        public void connection(boolean open) {
            for (TraceStream s : streams) {
                s.connection(name, TracedMessage.now(), open);
            }
        }
    }
}
