// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Struct;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * What a module has to remember to go on: one block of memory with a declared layout, one record for the module, one for
 * each context and one for each ring. Reset, save, restore and the comparison with a new module are operations on it.
 * Each record is written by one thread at a time: the module's by the client's thread (admin_result and admin_status by
 * whoever carries the command out), a context's and a ring's by the loop that owns it.
 */
final class ModuleBlock {
    /** The module's own record. */
    static final Struct MODULE = Struct.memory("bp_imm_saved_module", "Registers of a messaging module.")
            .u64("driver_features", DEVICE, "As the register.")
            .u64("event_table", DEVICE, "As the register.")
            .u64("admin_command", DEVICE, "As the register.")
            .u64("admin_result", DEVICE, "As the register.")
            .u32("state", DEVICE, "BP_IMM_STATE_*; control and status are made of it.")
            .u32("error", DEVICE, "As the register.")
            .u32("epoch", DEVICE, "As the register; survives a reset.")
            .u32("event_status", DEVICE, "As the register.")
            .u32("scratch", DEVICE, "As the register.")
            .u32("admin_status", DEVICE, "As the register.")
            .reservedTo(64)
            .size(64);

    /** A context's record. */
    static final Struct CONTEXT = Struct.memory("bp_imm_saved_context", "A GET/PUT context.")
            .u32("state", DEVICE, "BP_IMM_CONTEXT_*.")
            .u32("generation", DEVICE, "Of the latest binding; survives a reset.")
            .u32("next", DEVICE, "Index of the action that is carried out next.")
            .u32("events", DEVICE, "Count of events, as in the event table; it goes on from binding to binding.")
            .u64("actions", DEVICE, "Actions completed by this binding.")
            .u64("failures", DEVICE, "Of these, how many did not end OK.")
            .size(32);

    /** A ring's record. */
    static final Struct RING = Struct.memory("bp_imm_saved_ring", "A ring.")
            .u32("state", DEVICE, "BP_IMM_RING_STATE_*.")
            .u32("flags", DEVICE, "As in RING_CREATE.")
            .u32("context", DEVICE, "Its owner.")
            .u32("memory", DEVICE, "Registered memory of the owner that it lies in.")
            .u64("offset", DEVICE, "Of the ring header in that memory.")
            .u64("capacity", DEVICE, "Bytes for elements.")
            .u64("key", DEVICE, "As in RING_CREATE.")
            .u64("tail", DEVICE, "Position after the last element.")
            .u64("head", DEVICE, "Position of the first element, as far as the device knows.")
            .u64("sequence", DEVICE, "Elements put so far.")
            .u64("removed", DEVICE, "Elements removed by GET so far.")
            .u64("refused", DEVICE, "Actions that ended FULL, EMPTY, DENIED or TOO_LONG here.")
            .size(80);

    static final int DRIVER_FEATURES = MODULE.offset("driver_features");
    static final int EVENT_TABLE = MODULE.offset("event_table");
    static final int ADMIN_COMMAND = MODULE.offset("admin_command");
    static final int ADMIN_RESULT = MODULE.offset("admin_result");
    static final int STATE = MODULE.offset("state");
    static final int ERROR = MODULE.offset("error");
    static final int EPOCH = MODULE.offset("epoch");
    static final int EVENT_STATUS = MODULE.offset("event_status");
    static final int SCRATCH = MODULE.offset("scratch");
    static final int ADMIN_STATUS = MODULE.offset("admin_status");

    static final int CONTEXT_STATE = CONTEXT.offset("state");
    static final int CONTEXT_GENERATION = CONTEXT.offset("generation");
    static final int CONTEXT_NEXT = CONTEXT.offset("next");
    static final int CONTEXT_EVENTS = CONTEXT.offset("events");
    static final int CONTEXT_ACTIONS = CONTEXT.offset("actions");
    static final int CONTEXT_FAILURES = CONTEXT.offset("failures");

    static final int RING_STATE = RING.offset("state");
    static final int RING_FLAGS = RING.offset("flags");
    static final int RING_CONTEXT = RING.offset("context");
    static final int RING_MEMORY = RING.offset("memory");
    static final int RING_OFFSET = RING.offset("offset");
    static final int RING_CAPACITY = RING.offset("capacity");
    static final int RING_KEY = RING.offset("key");
    static final int RING_TAIL = RING.offset("tail");
    static final int RING_HEAD = RING.offset("head");
    static final int RING_SEQUENCE = RING.offset("sequence");
    static final int RING_REMOVED = RING.offset("removed");
    static final int RING_REFUSED = RING.offset("refused");

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHARED = INT.varHandle();
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int contexts;
    private final int rings;
    private final MemorySegment block;

    ModuleBlock(int contexts, int rings) {
        this.contexts = contexts;
        this.rings = rings;
        this.block = Arena.ofAuto().allocate(bytes(contexts, rings), 64);
    }

    private static long bytes(int contexts, int rings) {
        return MODULE.size() + (long) contexts * CONTEXT.size() + (long) rings * RING.size();
    }

    /** All of it, for saving and restoring. */
    MemorySegment segment() {
        return block;
    }

    /** Where the record of context {@code n} is. */
    long context(int n) {
        return MODULE.size() + (long) n * CONTEXT.size();
    }

    /** Where the record of ring {@code id} is. */
    long ring(int id) {
        return MODULE.size() + (long) contexts * CONTEXT.size() + (long) id * RING.size();
    }

    /** Back to the state after power-on, but for the epoch, which grows, and the generations. */
    void reset() {
        int epoch = getInt(EPOCH) + 1;
        block.asSlice(0, MODULE.size()).fill((byte) 0);
        setInt(EPOCH, epoch);
        for (int n = 0; n < contexts; n++) {
            int generation = getInt(context(n) + CONTEXT_GENERATION);
            block.asSlice(context(n), CONTEXT.size()).fill((byte) 0);
            setInt(context(n) + CONTEXT_GENERATION, generation);
        }
        block.asSlice(ring(0), (long) rings * RING.size()).fill((byte) 0);
    }

    /** Where a module that was reset differs from this new one in anything but epoch and generations, or -1. */
    long mismatchAfterReset(ModuleBlock other) {
        MemorySegment copy = Arena.ofAuto().allocate(block.byteSize(), 64).copyFrom(other.block);
        copy.set(INT, EPOCH, getInt(EPOCH));
        for (int n = 0; n < contexts; n++) {
            copy.set(INT, context(n) + CONTEXT_GENERATION, getInt(context(n) + CONTEXT_GENERATION));
        }
        return block.mismatch(copy);
    }

    void clearRing(int id) {
        block.asSlice(ring(id), RING.size()).fill((byte) 0);
    }

    int getInt(long at) {
        return block.get(INT, at);
    }

    void setInt(long at, int value) {
        block.set(INT, at, value);
    }

    /** Reads a word behind which another thread has stored more, by {@link #setIntRelease}. */
    int getIntAcquire(long at) {
        return (int) SHARED.getAcquire(block, at);
    }

    /** Publishes what was stored before. */
    void setIntRelease(long at, int value) {
        SHARED.setRelease(block, at, value);
    }

    long getLong(long at) {
        return block.get(LONG, at);
    }

    void setLong(long at, long value) {
        block.set(LONG, at, value);
    }

    /** Sets bits of a word that several threads change; returns the word as it was. */
    int setBits(long at, int bits) {
        return (int) SHARED.getAndBitwiseOr(block, at, bits);
    }

    /** Clears bits of a word that several threads change. */
    void clearBits(long at, int bits) {
        SHARED.getAndBitwiseAnd(block, at, ~bits);
    }

    /** Adds one to a count in a record that the caller's loop owns. */
    void count(long at) {
        block.set(LONG, at, block.get(LONG, at) + 1);
    }
}
