// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;

/**
 * READ and WRITE, part by part, at a target whose guest does not share its memory: each part is a message to that guest's
 * client and back, so it is made on the guest's lane and not by the context's loop.
 */
final class CopyTarget extends SerialTarget {
    private final MessagingModule owner;
    private final GuestCursor cursor = new GuestCursor();

    CopyTarget(MessagingModule owner) {
        super(owner.fabric().workers());
        this.owner = owner;
    }

    @Override
    protected Outcome carryOut(Request r) {
        return outcome(r, OneSided.move(owner, r, cursor));
    }

    @Override
    public String toString() {
        return "copies of " + owner;
    }
}
