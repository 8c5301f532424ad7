// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import java.io.IOException;

/** The stream of messages cannot be trusted any more, or has ended: nothing but closing the connection is left. */
public final class StreamException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** The peer has closed the connection, or is gone. */
        PEER_GONE("peer_gone"),
        /** The peer has closed the connection inside a message. */
        CUT_SHORT("cut_short"),
        /** A header says a size below its own or above the largest message. */
        BAD_SIZE("bad_size"),
        /** The client's first message was no version that can be agreed on. */
        NO_VERSION("no_version"),
        /** Descriptors were lost, because this process has too many open. */
        LOST_DESCRIPTORS("lost_descriptors"),
        /** More descriptors than any message can carry came before it was complete. */
        TOO_MANY_DESCRIPTORS("too_many_descriptors"),
        /** The peer has not taken a message in time, and has got a part of it already. */
        STUCK("stuck");

        private final String label;

        Reason(String label) {
            this.label = label;
        }

        /** Lower-case name with underscores, for counters. */
        public String label() {
            return label;
        }
    }

    private final Reason reason;

    public StreamException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
