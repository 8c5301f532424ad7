// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Field;
import dev.backplane.vfiouser.layout.Struct;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The saved state of a stopped vNIC: a header, the {@link VnicState} block, and the statistics. What is in guest memory
 * (rings, indices, event indices) goes with guest memory. The state is hostile when it comes back: each register is
 * checked as if the driver wrote it, and each thing that only the device writes for being possible; the block is taken
 * over when all of it is good, or not at all.
 */
final class VnicImage {
    /** "BAGS", little-endian. */
    private static final int MAGIC = 0x5347_4142;

    private static final int VERSION = 1;

    private static final Struct HEADER = Struct.memory("bp_agg_saved", "Head of a saved vNIC.")
            .u32("magic", DEVICE, "\"BAGS\".")
            .u32("version", DEVICE, "Of this layout.")
            .u32("node", DEVICE, "Id of the node.")
            .u32("block_bytes", DEVICE, "Size of the block that follows.")
            .u32("statistics_bytes", DEVICE, "Size of the statistics after it.")
            .reservedTo(32)
            .size(32);

    private static final int MAGIC_AT = HEADER.offset("magic");
    private static final int VERSION_AT = HEADER.offset("version");
    private static final int NODE_AT = HEADER.offset("node");
    private static final int BLOCK_AT = HEADER.offset("block_bytes");
    private static final int STATISTICS_AT = HEADER.offset("statistics_bytes");

    /** Size of the state. */
    static final long BYTES = (long) HEADER.size() + VnicState.BYTES + AggStatistics.LAYOUT.size();

    private static final int EVENTS =
            AggRegisters.EVENT_LINK | AggRegisters.EVENT_QUEUE_ERROR | AggRegisters.EVENT_QUEUE;

    // The state comes from anywhere: of no alignment.
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private VnicImage() {}

    static void save(VnicDevice device, MemorySegment out) {
        out.fill((byte) 0);
        out.set(INT, MAGIC_AT, MAGIC);
        out.set(INT, VERSION_AT, VERSION);
        out.set(INT, NODE_AT, device.node().id());
        out.set(INT, BLOCK_AT, VnicState.BYTES);
        out.set(INT, STATISTICS_AT, AggStatistics.LAYOUT.size());
        long at = HEADER.size();
        MemorySegment.copy(device.state().block(), 0, out, at, VnicState.BYTES);
        at += VnicState.BYTES;
        for (int s = 0; s < AggStatistics.LAYOUT.size(); s += 8) {
            out.set(LONG, at + s, device.count().statistic(s));
        }
    }

    /**
     * Takes a state over into the block and the statistics of a device that is stopped and reset.
     *
     * @throws IllegalArgumentException when it is not one of this device; then nothing has changed
     */
    static void restore(VnicDevice device, MemorySegment in) {
        if (in.byteSize() != BYTES) {
            throw new IllegalArgumentException(
                    "saved vNIC: it has " + in.byteSize() + " bytes, this version's have " + BYTES);
        }
        require("magic", in.get(INT, MAGIC_AT), MAGIC);
        require("version", in.get(INT, VERSION_AT), VERSION);
        require("node", in.get(INT, NODE_AT), device.node().id());
        require("size of the block", in.get(INT, BLOCK_AT), VnicState.BYTES);
        require("size of the statistics", in.get(INT, STATISTICS_AT), AggStatistics.LAYOUT.size());
        VnicState from = new VnicState();
        MemorySegment.copy(in, HEADER.size(), from.block(), 0, VnicState.BYTES);
        checkControl(device.state(), from);
        for (int q = 0; q < VnicState.QUEUES; q++) {
            checkQueue(from, q);
        }
        adopt(device.state(), from);
        long at = (long) HEADER.size() + VnicState.BYTES;
        for (int s = 0; s < AggStatistics.LAYOUT.size(); s += 8) {
            device.count().continueFrom(s, in.get(LONG, at + s));
        }
    }

    /** Everything but what belongs to this server's port: its speed, and the accesses that it counts. */
    private static void adopt(VnicState to, VnicState from) {
        int speed = to.getInt(AggRegisters.LINK_SPEED);
        MemorySegment.copy(from.block(), 0, to.block(), 0, VnicState.BYTES);
        to.setInt(AggRegisters.LINK_SPEED, speed);
        to.setInt(AggRegisters.BAD_ACCESSES, 0);
        // The link is down for now, whatever it was: the device brings it up when it goes on.
        to.setInt(AggRegisters.STATUS, to.getInt(AggRegisters.STATUS) & AggRegisters.STATUS_STATE_MASK);
    }

    private static void checkControl(VnicState own, VnicState from) {
        for (Field f : AggRegisters.LAYOUT.fields()) {
            if (f.access() == Access.RO && isIdentity(f.offset())) {
                int width = f.type().bytes();
                require(f.name(), from.get(f.offset(), width), own.get(f.offset(), width));
            } else if (f.access() == Access.RW && !VnicRegisters.allowed(f.offset(), from)) {
                throw bad(f.name(), from.get(f.offset(), f.type().bytes()));
            } else if (f.access() == Access.RESERVED) {
                check(isZero(from, f.offset(), f.bytes()), f.name(), 1);
            }
        }
        int status = from.getInt(AggRegisters.STATUS);
        int state = status & AggRegisters.STATUS_STATE_MASK;
        check((status & ~(AggRegisters.STATUS_STATE_MASK | AggRegisters.STATUS_LINK_UP)) == 0, "status", status);
        check(state < VnicStatus.values().length, "state", state);
        boolean enabled = from.getInt(AggRegisters.CONTROL) != 0;
        check(enabled == (VnicStatus.of(status) != VnicStatus.IDLE), "control with this state", state);
        int error = from.getInt(AggRegisters.ERROR);
        boolean failed = VnicStatus.of(status) == VnicStatus.FAILED;
        check(error >= 0 && error <= AggRegisters.ERROR_RESTORE && failed == (error != 0), "error", error);
        int events = from.getInt(AggRegisters.EVENT_STATUS);
        check((events & ~EVENTS) == 0, "event_status", events);
    }

    /** What the driver has read of the device and goes on to rely on. */
    private static boolean isIdentity(int offset) {
        return offset != AggRegisters.STATUS
                && offset != AggRegisters.ERROR
                && offset != AggRegisters.EPOCH
                && offset != AggRegisters.QUEUE_ERRORS
                && offset != AggRegisters.LINK_SPEED
                && offset != AggRegisters.BAD_ACCESSES;
    }

    private static void checkQueue(VnicState from, int q) {
        int at = VnicState.queue(q);
        String name = "queue " + q + ": ";
        for (Field f : QueueRegisters.LAYOUT.fields()) {
            if (f.access() == Access.RW && !VnicRegisters.allowedOfQueue(f.offset(), q, from)) {
                throw bad(name + f.name(), from.get(at + f.offset(), f.type().bytes()));
            } else if (f.access() == Access.RESERVED) {
                check(isZero(from, at + f.offset(), f.bytes()), name + f.name(), 1);
            }
        }
        int state = from.getInt(at + QueueRegisters.STATE);
        check(state >= 0 && state < QueueStatus.values().length, name + "state", state);
        boolean enabled = from.getInt(at + QueueRegisters.CONTROL) != 0;
        check(enabled == (QueueStatus.of(state) != QueueStatus.DISABLED), name + "control with this state", state);
        boolean stopped = QueueStatus.of(state) == QueueStatus.STOPPED;
        int error = from.getInt(at + QueueRegisters.ERROR);
        check(error >= 0 && error <= QueueRegisters.ERROR_INTERNAL && stopped == (error != 0), name + "error", error);
        check((from.getInt(AggRegisters.QUEUE_ERRORS) >>> q & 1) == (stopped ? 1 : 0), name + "error bit", error);
        check(
                QueueStatus.of(state) != QueueStatus.RUNNING || QueueSetup.plausible(from, q),
                name + "size",
                from.getInt(at + QueueRegisters.SIZE));
        int remembered = VnicState.remembered(q);
        int discard = from.getInt(remembered + VnicState.DISCARD);
        check(discard >= 0 && discard <= TransmitCompletion.DROPPED + 1 && discard != 1, name + "discard", discard);
        int due = from.getInt(remembered + VnicState.INTERRUPT_DUE);
        check((due & ~1) == 0, name + "interrupt_due", due);
    }

    private static boolean isZero(VnicState from, int offset, int bytes) {
        for (int i = 0; i < bytes; i += 4) {
            if (from.getInt(offset + i) != 0) {
                return false;
            }
        }
        return true;
    }

    private static void require(String what, long found, long wanted) {
        if (found != wanted) {
            throw new IllegalArgumentException("saved vNIC: " + what + " is " + found + ", here it is " + wanted);
        }
    }

    private static void check(boolean ok, String what, long value) {
        if (!ok) {
            throw bad(what, value);
        }
    }

    private static IllegalArgumentException bad(String what, long value) {
        return new IllegalArgumentException("saved vNIC: " + what + " cannot be " + value);
    }
}
