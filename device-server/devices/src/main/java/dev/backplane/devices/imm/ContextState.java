// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/** States of a binding of a context to a process ({@code BP_IMM_CONTEXT_*}). A binding starts OPEN. */
enum ContextState {
    /** Bound to no process; the end of every binding that the driver closes. */
    CLOSED(ContextPage.STATE_CLOSED),
    /** Actions are carried out. */
    OPEN(ContextPage.STATE_OPEN),
    /** The process stored an impossible {@code submit}: nothing more is carried out. */
    ERROR(ContextPage.STATE_ERROR),
    /** The module was reset or failed under the binding. */
    DEAD(ContextPage.STATE_DEAD);

    private final int value;

    ContextState(int value) {
        this.value = value;
    }

    /** The value in registers, pages and ring headers. */
    int value() {
        return value;
    }

    /** Whether {@code next} may follow. */
    boolean leadsTo(ContextState next) {
        return switch (this) {
            case OPEN -> next != OPEN;
            case ERROR -> next == CLOSED || next == DEAD;
            case CLOSED, DEAD -> false;
        };
    }
}
