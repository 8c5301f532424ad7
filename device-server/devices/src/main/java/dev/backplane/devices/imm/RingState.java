// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/** States of a ring ({@code BP_IMM_RING_STATE_*}). A ring starts OPEN. */
enum RingState {
    /** Withdrawn: destroyed, its owner closed, or its module reset. Final. */
    CLOSED(RingHeader.STATE_CLOSED),
    /** Takes PUT and GET. */
    OPEN(RingHeader.STATE_OPEN),
    /** Its owner broke its indices or elements, or took its memory away: every action ends RING_CORRUPT. */
    CORRUPT(RingHeader.STATE_CORRUPT);

    private final int value;

    RingState(int value) {
        this.value = value;
    }

    /** The value in registers, pages and ring headers. */
    int value() {
        return value;
    }

    /** Whether {@code next} may follow. */
    boolean leadsTo(RingState next) {
        return switch (this) {
            case OPEN -> next != OPEN;
            case CORRUPT -> next == CLOSED;
            case CLOSED -> false;
        };
    }
}
