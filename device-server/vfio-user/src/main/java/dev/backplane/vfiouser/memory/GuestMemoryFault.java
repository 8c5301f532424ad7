// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

/**
 * An access to guest memory that could not be made. Always the guest's or its client's doing, and so expected: one
 * shared instance for each reason, without stack trace, so that a hostile guest cannot make the server allocate.
 */
public final class GuestMemoryFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why the access was refused. */
    @SuppressWarnings("ImmutableEnumChecker") // the fault is immutable but for what Throwable has
    public enum Reason {
        /** No window covers all of the range, or the range wraps around. */
        NOT_MAPPED("guest address is not mapped"),
        /** The client mapped the window without write permission. */
        READ_ONLY("guest address is read-only"),
        /** The client gave no file for the window, and access by message is not available. */
        NOT_SHARED("guest memory is not shared: start QEMU with memory-backend-memfd,share=on"),
        /** As {@link #NOT_SHARED}, but access by message is possible from a thread that may wait ({@link PromptThread}). */
        WOULD_WAIT("guest memory is not shared, and this thread must not wait for its client"),
        /**
         * Somebody waits until nobody uses the memory any more, and ended an access by message that was waiting for the
         * client: it may have been made or not, and may be repeated in another use.
         */
        INTERRUPTED("access to guest memory by message was interrupted"),
        /** A scalar access that is not naturally aligned. */
        MISALIGNED("guest address is not aligned"),
        /** The file behind the window was truncated, or a message access failed. */
        BROKEN("guest memory is broken: its file was truncated or its client does not answer");

        private final GuestMemoryFault fault;

        Reason(String text) {
            this.fault = new GuestMemoryFault(this, text);
        }

        /** The shared instance. */
        public GuestMemoryFault fault() {
            return fault;
        }
    }

    private final transient Reason reason;

    private GuestMemoryFault(Reason reason, String text) {
        super(text, null, false, false);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
