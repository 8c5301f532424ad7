// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import java.lang.foreign.MemorySegment;

/**
 * Moves payload between where an action keeps it, the inline area of its page or registered memory, and memory of the
 * target. Both guests' memories are in use; ranges were checked. Directly, in pieces that follow each other in both.
 */
final class Payload {
    private Payload() {}

    /** From the action, its bytes from {@code r.progress} on, to {@code offset} of the target's memory. */
    static void toTarget(Request r, GuestCursor target, RegisteredMemory to, long offset, long bytes) {
        if (r.memory == null) {
            MemorySegment page = r.binding.context.pages().memory();
            long from = r.binding.context.pages().inline(r.binding.context.number) + r.offset + r.progress;
            for (long done = 0; done < bytes; ) {
                long n = Math.min(bytes - done, to.run(offset + done));
                target.write(to.address(offset + done), page, from + done, n);
                done += n;
            }
            return;
        }
        r.binding.local.use(r.binding.guest);
        copy(target, to, offset, r.binding.local, r.memory, r.offset + r.progress, bytes);
    }

    /** From {@code offset} of the target's memory to the action's place, from {@code r.progress} on. */
    static void fromTarget(Request r, GuestCursor target, RegisteredMemory from, long offset, long bytes) {
        if (r.memory == null) {
            MemorySegment page = r.binding.context.pages().memory();
            long to = r.binding.context.pages().inline(r.binding.context.number) + r.offset + r.progress;
            for (long done = 0; done < bytes; ) {
                long n = Math.min(bytes - done, from.run(offset + done));
                target.read(from.address(offset + done), page, to + done, n);
                done += n;
            }
            return;
        }
        r.binding.local.use(r.binding.guest);
        copy(r.binding.local, r.memory, r.offset + r.progress, target, from, offset, bytes);
    }

    private static void copy(
            GuestCursor target,
            RegisteredMemory to,
            long toOffset,
            GuestCursor source,
            RegisteredMemory from,
            long fromOffset,
            long bytes) {
        for (long done = 0; done < bytes; ) {
            long n = Math.min(bytes - done, to.run(toOffset + done));
            n = Math.min(n, from.run(fromOffset + done));
            target.copyFrom(to.address(toOffset + done), source, from.address(fromOffset + done), n);
            done += n;
        }
    }
}
