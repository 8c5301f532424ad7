// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/** READ and WRITE: copies between a process's payload and registered memory of a target, by the context's own loop. */
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
        GuestMemory guest = target.guest();
        if (guest == null) {
            return r.finish(Completion.UNREACHABLE);
        }
        boolean write = r.command == Action.CMD_WRITE;
        int use = guest.enter();
        try {
            int right = write ? AdminCommand.MEMORY_REMOTE_WRITE : AdminCommand.MEMORY_REMOTE_READ;
            if (r.bereft()) {
                return r.finish(Completion.NO_SUCH_MEMORY);
            }
            RegisteredMemory memory = resolve(target, r, right, r.length);
            if (memory == null) {
                return r.finish(r.status);
            }
            if (r.remote != null && r.remote != memory) {
                // Somebody new has the id: nothing that was meant for who had it before.
                return r.finish(Completion.NO_SUCH_MEMORY);
            }
            r.remote = memory;
            r.binding.remote.use(guest);
            long n = Math.min(r.length - r.progress, SerialTarget.STEP_BYTES);
            if (write) {
                Payload.toTarget(r, r.binding.remote, memory, r.remoteOffset + r.progress, n);
            } else {
                Payload.fromTarget(r, r.binding.remote, memory, r.remoteOffset + r.progress, n);
            }
            r.progress += n;
            r.resultLength = (int) r.progress;
            return r.progress == r.length && r.finish(Completion.OK);
        } catch (GuestMemoryFault f) {
            boolean mine = r.memory != null && !r.memory.accessible(r.offset, r.length, !write);
            (mine ? r.binding.context.module : target).memoryFault(f);
            return r.finish(Completion.BAD_ADDRESS);
        } finally {
            guest.exit(use);
        }
    }
}
