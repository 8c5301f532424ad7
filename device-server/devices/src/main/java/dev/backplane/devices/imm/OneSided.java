// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/** READ and WRITE: copies between a process's payload and registered memory of a target, by the context's own loop, or by {@link CopyTarget}. */
final class OneSided {
    private OneSided() {}

    /**
     * The memory that a one-sided action names at its target, if the action has the right to {@code length} bytes there;
     * asked inside a use of the target's memory. Else null, and the status to end with is in the request.
     */
    static RegisteredMemory resolve(MessagingModule target, Request r, int right, long length) {
        r.status = 0;
        if (!target.reachable()) {
            r.status = Completion.UNREACHABLE;
            return null;
        }
        GetPutContext context = target.contexts().context(r.ring >>> 16);
        Binding binding = context == null ? null : context.binding();
        RegisteredMemory memory = binding == null ? null : binding.memory(r.ring & 0xffff);
        if (memory == null || !memory.registered() || binding.state() == ContextState.CLOSED) {
            r.status = Completion.NO_SUCH_MEMORY;
            return null;
        }
        MessagingModule source = r.binding.context.module;
        if (r.key != memory.key
                || (memory.flags & right) == 0
                || !target.admits(source)
                || !memory.nodes.contains(source.node().id())) {
            target.tally().ringDenied.increment();
            r.status = Completion.DENIED;
        } else if (!memory.contains(r.remoteOffset, length)) {
            r.status = Completion.BAD_ADDRESS;
        }
        return r.status == 0 ? memory : null;
    }

    /**
     * Makes one bounded step, inside a use of the initiator's memory.
     *
     * @return whether the action is finished; if not, another step follows
     */
    static boolean step(MessagingModule target, Request r) {
        int status = move(target, r, r.binding.remote);
        return status != Completion.OK ? r.finish(status) : r.progress == r.length && r.finish(Completion.OK);
    }

    /**
     * Moves the next part of the payload: as much as a step may, or as much as there is in the request's buffer.
     *
     * @param cursor of whoever makes the step
     * @return OK, {@link SerialTarget#AGAIN}, or the status to end with
     */
    static int move(MessagingModule target, Request r, GuestCursor cursor) {
        GuestMemory guest = target.guest();
        if (guest == null) {
            return Completion.UNREACHABLE;
        }
        boolean write = r.command == Action.CMD_WRITE;
        int use = guest.enter();
        try {
            int right = write ? AdminCommand.MEMORY_REMOTE_WRITE : AdminCommand.MEMORY_REMOTE_READ;
            if (r.bereft()) {
                return Completion.NO_SUCH_MEMORY;
            }
            RegisteredMemory memory = resolve(target, r, right, r.length);
            if (memory == null) {
                return r.status;
            }
            if (r.remote != null && r.remote != memory) {
                // Somebody new has the id: nothing that was meant for who had it before.
                return Completion.NO_SUCH_MEMORY;
            }
            r.remote = memory;
            cursor.use(guest);
            long n = nextPart(r);
            if (write) {
                Payload.toTarget(r, cursor, memory, r.remoteOffset + r.progress, n);
            } else {
                Payload.fromTarget(r, cursor, memory, r.remoteOffset + r.progress, n);
            }
            r.progress += n;
            r.resultLength = (int) r.progress;
            return Completion.OK;
        } catch (GuestMemoryFault f) {
            if (f.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
                return SerialTarget.AGAIN;
            }
            boolean mine = !r.staged && r.memory != null && !r.memory.accessible(r.offset, r.length, !write);
            (mine ? r.binding.context.module : target).memoryFault(f);
            return Completion.BAD_ADDRESS;
        } finally {
            guest.exit(use);
        }
    }

    /** Bytes of the next part. */
    static long nextPart(Request r) {
        return Math.min(r.length - r.progress, SerialTarget.STEP_BYTES);
    }
}
