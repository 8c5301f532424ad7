// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.DrainLoop;

/** Announces that a module has failed: apart from the turn that found out, which is inside a use of the memory. */
final class FailureLoop extends DrainLoop {
    private final MessagingModule module;

    FailureLoop(MessagingModule module) {
        super(module.fabric().workers());
        this.module = module;
    }

    @Override
    protected boolean turn() {
        module.announceFailure();
        return false;
    }
}
