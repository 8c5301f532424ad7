// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * States of a queue, and what stops one.
 *
 * <pre>
 *   from      to        when
 *   DISABLED  RUNNING   the driver enables it and its registers are valid
 *   DISABLED  STOPPED   the driver enables it and they are not
 *   RUNNING   STOPPED   its indices or its memory are bad
 *   RUNNING   DISABLED  the driver disables it, or a reset
 *   STOPPED   DISABLED  the same
 * </pre>
 */
enum QueueStatus {
    DISABLED(QueueRegisters.STATE_DISABLED),
    RUNNING(QueueRegisters.STATE_RUNNING),
    STOPPED(QueueRegisters.STATE_STOPPED);

    private final int code;

    QueueStatus(int code) {
        this.code = code;
    }

    /** Value in the state register. */
    int code() {
        return code;
    }

    static QueueStatus of(int code) {
        return values()[code];
    }

    boolean mayBecome(QueueStatus next) {
        return switch (this) {
            case DISABLED -> next != DISABLED;
            case RUNNING -> next != RUNNING;
            case STOPPED -> next == DISABLED;
        };
    }

    /** The error code for a queue whose own memory could not be accessed. */
    static int error(GuestMemoryFault fault) {
        return switch (fault.reason()) {
            case NOT_MAPPED, READ_ONLY -> QueueRegisters.ERROR_NOT_MAPPED;
            case MISALIGNED -> QueueRegisters.ERROR_BAD_CONFIGURATION;
            case NOT_SHARED, WOULD_WAIT -> QueueRegisters.ERROR_NOT_SHARED;
            case BROKEN, INTERRUPTED -> QueueRegisters.ERROR_BROKEN_MEMORY;
        };
    }
}
