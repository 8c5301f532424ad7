// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * How the actions of one context move between guests that do not both share their memory: by way of the request's own
 * buffer. Nothing here waits for another guest's client, and nothing of another guest's is held while this one's is waited
 * for. Belongs to the context's loop. Its methods throw {@link GuestMemoryFault} when an access was interrupted before
 * anything was moved, to be called again in another turn.
 */
final class StagedTransfer {
    private final MessagingModule module;

    /** The target of a one-sided action of which a part is on its way. */
    private MessagingModule target;

    /** @param module the initiator's */
    StagedTransfer(MessagingModule module) {
        this.module = module;
    }

    /** Where the part that is on its way goes. */
    MessagingModule target() {
        return target;
    }

    /**
     * Puts the payload of an action that is not one-sided into the buffer.
     *
     * @return 0, or the status to end with
     */
    int stage(Request r) {
        try {
            return r.stage();
        } catch (GuestMemoryFault f) {
            return lost(f);
        }
    }

    /** Has the next part of a one-sided action moved, at once or by the target's lane; it is answered then. */
    void send(Request r, MessagingModule to) {
        int status = r.bereft() ? Completion.NO_SUCH_MEMORY : Completion.OK;
        try {
            if (status == Completion.OK && r.command == Action.CMD_WRITE) {
                Payload.stage(r, OneSided.nextPart(r));
            } else {
                r.stagedFrom = r.progress;
            }
        } catch (GuestMemoryFault f) {
            status = lost(f);
        }
        target = to;
        r.reopen();
        if (status == Completion.OK && to.byMessage()) {
            to.copies().queue(r);
            return;
        }
        r.finish(status == Completion.OK ? OneSided.move(to, r, r.binding.remote) : status);
        r.answer();
    }

    /** Takes what has come out of the buffer; returns whether that was the last of the action. */
    boolean take(Request r) {
        if (r.status != Completion.OK) {
            return true;
        }
        boolean read = r.command == Action.CMD_READ;
        if (read || r.command == Action.CMD_GET) {
            if (r.bereft()) {
                return r.finish(Completion.NO_SUCH_MEMORY);
            }
            try {
                Payload.unstage(r, read ? r.progress - r.stagedFrom : r.resultLength);
            } catch (GuestMemoryFault f) {
                return r.finish(lost(f));
            }
        }
        return !(r.oneSided() && r.progress < r.length);
    }

    /**
     * For the client's thread while the module is stopped: whether an action that was answered is over. One-sided ones of
     * which parts are missing are not, and start anew.
     */
    boolean settle(Request r) {
        if (!r.staged || r.status != Completion.OK) {
            return true;
        }
        if (!module.byMessage()) {
            return take(r);
        }
        // What it fetched cannot be stored: that would take a message and an answer, for which this thread must not
        // wait.
        return switch (r.command) {
            case Action.CMD_GET -> r.finish(Completion.ABORTED);
            case Action.CMD_READ -> false;
            case Action.CMD_WRITE -> r.progress == r.length;
            default -> true;
        };
    }

    /** Nothing is on its way any more. */
    void forget() {
        target = null;
    }

    /** The status after a fault of this guest's own memory. */
    private int lost(GuestMemoryFault f) {
        if (f.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
            throw f;
        }
        module.memoryFault(f);
        return Completion.BAD_ADDRESS;
    }
}
