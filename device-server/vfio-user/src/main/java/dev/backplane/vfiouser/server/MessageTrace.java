// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import java.lang.foreign.MemorySegment;

/**
 * Is shown every message of a device's connections, in both directions and in order for each. Called on the threads that
 * send and receive, which wait for it: it copies what it needs and returns. While nobody traces, it costs nothing.
 */
public interface MessageTrace {
    /**
     * A message has come, or is about to be sent.
     *
     * @param fromClient its direction
     * @param memory holds the message; not to be touched after the call
     * @param at where in {@code memory} the header starts
     * @param bytes size with the header
     * @param fds number of descriptors that go along
     */
    void message(boolean fromClient, MemorySegment memory, long at, int bytes, int fds);

    /** A client has connected or gone. */
    default void connection(boolean open) {}
}
