// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * FETCH_ADD and COMPARE_SWAP on registered memory of one node: all of a node's go through this one loop, so each is
 * atomic towards all others, whatever memory or process they come from. Towards plain stores of the target's own
 * processes they are not: a word that atomics work on is changed by atomics only. (A compare-and-set on guest memory
 * would kill the server's JVM when the file behind it is truncated, so there is none.)
 */
final class Atomics extends SerialTarget {
    private final MessagingModule owner;
    private final GuestCursor cursor = new GuestCursor();

    Atomics(MessagingModule owner) {
        super(owner.fabric().workers());
        this.owner = owner;
    }

    @Override
    protected Outcome carryOut(Request r) {
        return outcome(r, status(r));
    }

    private int status(Request r) {
        GuestMemory guest = owner.guest();
        if (guest == null) {
            return Completion.UNREACHABLE;
        }
        boolean stored = false;
        int use = guest.enter();
        try {
            RegisteredMemory memory = OneSided.resolve(owner, r, AdminCommand.MEMORY_REMOTE_ATOMIC, Long.BYTES);
            if (memory == null) {
                return r.status;
            }
            long address = memory.address(r.remoteOffset);
            if ((address & (Long.BYTES - 1)) != 0) {
                return Completion.BAD_ADDRESS;
            }
            cursor.use(guest);
            // Acquire and release: what an initiator wrote before its atomic is visible to who acts on its result.
            long old = cursor.getLongAcquire(address);
            stored = true;
            if (r.command == Action.CMD_FETCH_ADD) {
                cursor.setLongRelease(address, old + r.operand);
            } else if (old == r.operand) {
                cursor.setLongRelease(address, r.swap);
            }
            r.resultValue = old;
            r.resultLength = Long.BYTES;
            return Completion.OK;
        } catch (GuestMemoryFault f) {
            if (f.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
                // What was stored by message may be there or not: not once more, then.
                return stored ? Completion.ABORTED : AGAIN;
            }
            owner.memoryFault(f);
            return Completion.BAD_ADDRESS;
        } finally {
            guest.exit(use);
        }
    }

    @Override
    public String toString() {
        return "atomics of " + owner;
    }
}
