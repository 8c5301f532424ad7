// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/** States of a module ({@code BP_IMM_STATE_*}). A reset leads to {@link #IDLE} from everywhere. */
enum ModuleState {
    /** After reset: only registers work. */
    IDLE(ImmRegisters.STATE_IDLE),
    /** Enabled by the driver. */
    RUNNING(ImmRegisters.STATE_RUNNING),
    /** Stopped by an error that the register {@code error} names. */
    FAILED(ImmRegisters.STATE_FAILED);

    private final int value;

    ModuleState(int value) {
        this.value = value;
    }

    /** The value in registers, pages and ring headers. */
    int value() {
        return value;
    }

    /** Whether {@code next} may follow without a reset. */
    boolean leadsTo(ModuleState next) {
        return switch (this) {
            case IDLE -> next == RUNNING || next == FAILED;
            case RUNNING -> next == FAILED;
            case FAILED -> false;
        };
    }
}
