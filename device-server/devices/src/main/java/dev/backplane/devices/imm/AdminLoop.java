// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.vfiouser.memory.GuestMemory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where the driver's commands are carried out: at once, by the client's thread, before the write of the doorbell is
 * answered; or, when that takes messages because guest memory is not shared, by turns of this loop on the guest's lane,
 * with the status BUSY meanwhile.
 *
 * <p>What the client's thread does beside registers, such as a reset, and a turn of this loop exclude each other.
 */
final class AdminLoop extends DrainLoop {
    private final MessagingModule module;
    private final ModuleBlock block;
    private final AdminUnit unit;
    private final ReentrantLock lock = new ReentrantLock();

    AdminLoop(MessagingModule module) {
        super(module.fabric().workers());
        this.module = module;
        this.block = module.block();
        this.unit = new AdminUnit(module);
    }

    /** The driver has rung; by the client's thread. Returns false when the command before is not done yet. */
    boolean begin() {
        if (busy()) {
            return false;
        }
        module.tally().adminCommands.increment();
        if (carryOut(false) == AdminCommand.STATUS_BUSY) {
            module.goSlow();
            wake();
        }
        return true;
    }

    private boolean busy() {
        return block.getIntAcquire(ModuleBlock.ADMIN_STATUS) == AdminCommand.STATUS_BUSY;
    }

    private int carryOut(boolean lane) {
        int status = module.state() == ModuleState.RUNNING
                ? unit.carryOut(block.getLong(ModuleBlock.ADMIN_COMMAND), lane)
                : AdminCommand.STATUS_NOT_ENABLED;
        if (status != AdminCommand.STATUS_OK && status != AdminCommand.STATUS_BUSY) {
            module.tally().adminRefused.increment();
        }
        block.setLong(ModuleBlock.ADMIN_RESULT, status == AdminCommand.STATUS_OK ? unit.result() : 0);
        // Pairs with the acquire load of the register's read: the result is there, and all that the command has done.
        block.setIntRelease(ModuleBlock.ADMIN_STATUS, status);
        return status;
    }

    /** Waits until no turn carries out a command; one that waits for the client is interrupted. Then {@link #admit}. */
    void exclude() {
        GuestMemory guest = module.guest();
        if (lock.tryLock()) {
            return;
        }
        module.tally().adminInterrupted.increment();
        do {
            guest.awaitUses();
        } while (!lock.tryLock());
    }

    /** Ends {@link #exclude}. */
    void admit() {
        lock.unlock();
    }

    @Override
    protected boolean turn() {
        lock.lock();
        try {
            // While the module is stopped the command waits; a reset forgets it.
            if (!busy() || (module.state() == ModuleState.RUNNING && !module.live())) {
                return false;
            }
            boolean again = carryOut(onLane()) == AdminCommand.STATUS_BUSY;
            if (again && !onLane()) {
                module.goSlow();
            }
            return again;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "commands of " + module;
    }
}
