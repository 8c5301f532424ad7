// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

/** A window that cannot be mapped or unmapped as asked. */
public final class MapRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public enum Reason {
        /** Size 0, or the range wraps around the end of the address space. */
        BAD_RANGE,
        /** The range has addresses in common with a window that exists. */
        OVERLAP,
        /** There are {@link GuestMemory#MAX_WINDOWS} windows already. */
        TOO_MANY,
        /** No window has exactly this range. */
        NO_SUCH_WINDOW
    }

    private final Reason reason;

    MapRefusedException(Reason reason, long start, long bytes) {
        super(reason + ": start 0x" + Long.toHexString(start) + ", bytes 0x" + Long.toHexString(bytes));
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
