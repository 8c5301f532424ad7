// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import java.lang.foreign.MemorySegment;

/**
 * Moves payload between where an action keeps it, the inline area of its page or registered memory, and memory of the
 * target. Both guests' memories are in use; ranges were checked. Directly, in pieces that follow each other in both; or,
 * when not both guests share their memory, in two steps, of which each touches the memory of one ({@link Request#staged}).
 */
final class Payload {
    private Payload() {}

    /** From the action, its bytes from {@code r.progress} on, to {@code offset} of the target's memory. */
    static void toTarget(Request r, GuestCursor target, RegisteredMemory to, long offset, long bytes) {
        if (r.staged) {
            write(target, to, offset, r.staging(), r.progress - r.stagedFrom, bytes);
        } else if (r.memory == null) {
            write(target, to, offset, r.binding.context.pages().memory(), inline(r) + r.progress, bytes);
        } else {
            r.binding.local.use(r.binding.guest);
            copy(target, to, offset, r.binding.local, r.memory, r.offset + r.progress, bytes);
        }
    }

    /** From {@code offset} of the target's memory to the action's place, from {@code r.progress} on. */
    static void fromTarget(Request r, GuestCursor target, RegisteredMemory from, long offset, long bytes) {
        if (r.staged) {
            read(target, from, offset, r.staging(), r.progress - r.stagedFrom, bytes);
        } else if (r.memory == null) {
            read(target, from, offset, r.binding.context.pages().memory(), inline(r) + r.progress, bytes);
        } else {
            r.binding.local.use(r.binding.guest);
            copy(r.binding.local, r.memory, r.offset + r.progress, target, from, offset, bytes);
        }
    }

    /**
     * From the action, its bytes from {@code r.progress} on, to the request's own buffer; inside a use of the initiator's
     * memory alone.
     */
    static void stage(Request r, long bytes) {
        r.stagedFrom = r.progress;
        if (r.memory == null) {
            MemorySegment.copy(r.binding.context.pages().memory(), inline(r) + r.progress, r.staging(), 0, bytes);
        } else {
            r.binding.local.use(r.binding.guest);
            read(r.binding.local, r.memory, r.offset + r.progress, r.staging(), 0, bytes);
        }
    }

    /** The other way: from the buffer to the action's place, from {@code r.stagedFrom} on. */
    static void unstage(Request r, long bytes) {
        if (r.memory == null) {
            MemorySegment.copy(r.staging(), 0, r.binding.context.pages().memory(), inline(r) + r.stagedFrom, bytes);
        } else {
            r.binding.local.use(r.binding.guest);
            write(r.binding.local, r.memory, r.offset + r.stagedFrom, r.staging(), 0, bytes);
        }
    }

    private static long inline(Request r) {
        GetPutContext context = r.binding.context;
        return context.pages().inline(context.number) + r.offset;
    }

    private static void write(
            GuestCursor cursor, RegisteredMemory to, long offset, MemorySegment from, long at, long bytes) {
        for (long done = 0; done < bytes; ) {
            long n = Math.min(bytes - done, to.run(offset + done));
            cursor.write(to.address(offset + done), from, at + done, n);
            done += n;
        }
    }

    private static void read(
            GuestCursor cursor, RegisteredMemory from, long offset, MemorySegment to, long at, long bytes) {
        for (long done = 0; done < bytes; ) {
            long n = Math.min(bytes - done, from.run(offset + done));
            cursor.read(from.address(offset + done), to, at + done, n);
            done += n;
        }
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
