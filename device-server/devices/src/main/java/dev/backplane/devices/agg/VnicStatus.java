// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

/**
 * States of a vNIC.
 *
 * <pre>
 *   from     to       when
 *   IDLE     RUNNING  the driver enables it
 *   RUNNING  IDLE     the driver disables it, or a reset
 *   RUNNING  FAILED   guest memory is broken
 *   FAILED   IDLE     reset
 * </pre>
 */
public enum VnicStatus {
    /** Registers can be set; no ring is touched, the link is down. */
    IDLE(0),
    /** Enabled queues work; the link is up unless it is held down from the server's side. */
    RUNNING(1),
    /** Stopped by an error, whose code is in the error register. */
    FAILED(2);

    private final int code;

    VnicStatus(int code) {
        this.code = code;
    }

    /** Value in the status register. */
    int code() {
        return code;
    }

    static VnicStatus of(int status) {
        return values()[status & AggRegisters.STATUS_STATE_MASK];
    }

    boolean mayBecome(VnicStatus next) {
        return switch (this) {
            case IDLE -> next == RUNNING;
            case RUNNING -> next != RUNNING;
            case FAILED -> next == IDLE;
        };
    }
}
