// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.PollSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * Event descriptors that a connection's thread waits for together with its socket. A client that signals without end gets
 * one action for each descriptor between two of its messages. Confined to the connection's thread.
 */
final class Watches implements AutoCloseable {
    /** What a signal does. Exceptions are reported, and the connection goes on. */
    @FunctionalInterface
    interface Action {
        void signalled();
    }

    private record Watch(EventFd event, String name, Action action) {}

    private final FileDescriptor socket;
    private final BiConsumer<String, Throwable> failed;
    private final List<Watch> watches = new ArrayList<>();
    private PollSet poll;

    /** @param failed told of an action's name and the exception that it threw */
    Watches(FileDescriptor socket, BiConsumer<String, Throwable> failed) {
        this.socket = socket;
        this.failed = failed;
    }

    boolean isEmpty() {
        return watches.isEmpty();
    }

    /** Watches a descriptor, which stays the caller's, from now on. */
    void add(EventFd event, String name, Action action) {
        if (poll == null) {
            poll = new PollSet();
            poll.add(socket.value());
        }
        poll.add(event.fd().value());
        watches.add(new Watch(event, name, action));
    }

    /** Stops watching a descriptor. */
    void remove(EventFd event) {
        for (int i = 0; i < watches.size(); i++) {
            if (watches.get(i).event == event) {
                watches.remove(i);
                poll.remove(i + 1);
                return;
            }
        }
    }

    /**
     * Waits until there is something to receive, and acts on every signal that comes before. A signal that was given
     * before a message was sent is acted on before the message can be received.
     */
    void awaitSocket() throws NativeException {
        do {
            poll.await(-1);
            for (int i = 0; i < watches.size(); i++) {
                if (poll.ready(i + 1)) {
                    act(watches.get(i));
                }
            }
        } while (!poll.ready(0));
    }

    private void act(Watch w) {
        try {
            if (w.event.read() != 0) { // else somebody else has taken it
                w.action.signalled();
            }
        } catch (NativeException | RuntimeException | Error e) {
            failed.accept(w.name, e);
        }
    }

    @Override
    public void close() {
        watches.clear();
        if (poll != null) {
            poll.close();
        }
    }
}
