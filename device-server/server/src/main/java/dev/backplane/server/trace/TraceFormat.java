// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

/** How traced messages are written. Immutable: any thread may call. */
interface TraceFormat {
    /** What comes before the first message. */
    byte[] head();

    /** A message, before which {@code dropped} messages were left out. */
    byte[] message(TracedMessage message, long dropped);

    /** That a client has connected to a socket, or has gone. Empty where the format has no place for it. */
    byte[] connection(String socket, long nanos, boolean open);
}
