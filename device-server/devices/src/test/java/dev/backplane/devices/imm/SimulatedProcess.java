// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.concurrent.locks.LockSupport;

/** A user process with one context: fills slots, submits, polls completions, as libbackplane does. One thread. */
final class SimulatedProcess {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORD = INT.varHandle();

    /** Longest time until a result; a stress that runs for long has to get by with what others leave of the machine. */
    private static final long LIMIT_NANOS = Long.getLong("imm.stress", 0) > 0 ? 200_000_000_000L : 20_000_000_000L;

    final SimulatedDriver driver;
    final int context;
    final int generation;
    final MemorySegment page;
    private final long doorbell;
    private int submitted;
    private int taken;
    long doorbells;

    SimulatedProcess(SimulatedDriver driver, int context, int generation, int stride) {
        this.driver = driver;
        this.context = context;
        this.generation = generation;
        this.doorbell = (long) context * stride;
        this.page = driver.guest.mappedBar(ImmRegisters.CONTEXT_BAR).asSlice((long) context * stride, stride);
    }

    /** The same process, in a guest that was moved. */
    SimulatedProcess movedTo(SimulatedDriver there) {
        SimulatedProcess p = new SimulatedProcess(there, context, generation, (int) page.byteSize());
        p.submitted = submitted;
        p.taken = taken;
        return p;
    }

    /** A completion as found in its slot. */
    record Result(int status, int length, long value, long tag, int node, int context, int index) {}

    /** The action being filled in. */
    final class ActionFields {
        private final long at;

        private ActionFields(int command, int node, int ring, long key) {
            at = ContextPage.ACTIONS + (submitted & (ContextPage.SLOTS - 1)) * (long) Action.BYTES;
            page.asSlice(at, Action.BYTES).fill((byte) 0);
            page.set(LONG, at, command | (long) node << 16 | (long) ring << 32);
            page.set(LONG, at + Action.KEY, key);
            memory(Action.INLINE, 0, 0);
        }

        ActionFields flags(int flags) {
            page.set(ValueLayout.JAVA_BYTE, at + Action.FLAGS, (byte) flags);
            return this;
        }

        ActionFields tag(long tag) {
            page.set(LONG, at + Action.TAG, tag);
            return this;
        }

        ActionFields memory(int id, long offset, int length) {
            page.set(LONG, at + Action.LENGTH, (length & 0xffff_ffffL) | (long) id << 32);
            page.set(LONG, at + Action.OFFSET, offset);
            return this;
        }

        ActionFields remote(long offset) {
            page.set(LONG, at + Action.REMOTE_OFFSET, offset);
            return this;
        }

        ActionFields operands(long operand, long swap) {
            page.set(LONG, at + Action.OPERAND, operand);
            page.set(LONG, at + Action.SWAP, swap);
            return this;
        }

        ActionFields waiting(long micros) {
            return flags(Action.WAIT).operands(micros, 0);
        }

        /** Payload in the inline area, in the eighth of it that belongs to the slot. */
        ActionFields inline(byte[] payload) {
            long offset = inlineOffset();
            MemorySegment.copy(
                    payload, 0, page, ValueLayout.JAVA_BYTE, ContextPage.INLINE_OFFSET + offset, payload.length);
            return memory(Action.INLINE, offset, payload.length);
        }

        /** Room for payload in the inline area. */
        ActionFields room(int length) {
            return memory(Action.INLINE, inlineOffset(), length);
        }

        /** Submits it; the doorbell is rung if wanted. Returns its index. */
        int submit() {
            int index = submitted;
            store(index + 1);
            return index;
        }

        /** Submits it and waits for its result, which must be the next. */
        Result run() {
            submit();
            return await();
        }
    }

    /** The slot of the next action. */
    int slot() {
        return submitted & (ContextPage.SLOTS - 1);
    }

    long inlineOffset() {
        return (submitted & (ContextPage.SLOTS - 1)) * (long) (ContextPage.INLINE_BYTES / ContextPage.SLOTS);
    }

    ActionFields action(int command, int node, int ring, long key) {
        return new ActionFields(command, node, ring, key);
    }

    ActionFields put(int node, int ring, long key) {
        return action(Action.CMD_PUT, node, ring, key);
    }

    ActionFields get(int node, int ring, long key) {
        return action(Action.CMD_GET, node, ring, key);
    }

    /** Stores submit, and rings the doorbell if the module sleeps. */
    void store(int submit) {
        submitted = submit;
        WORD.setRelease(page, (long) ContextPage.SUBMIT, submit);
        // As bp_flush(): either the module sees submit, or this sees that the doorbell is wanted.
        VarHandle.fullFence();
        if ((int) WORD.getAcquire(page, (long) ContextPage.DOORBELL_WANTED) != 0) {
            ring();
        }
    }

    /** Stores submit only. */
    void storeQuietly(int submit) {
        submitted = submit;
        WORD.setRelease(page, (long) ContextPage.SUBMIT, submit);
    }

    void ring() {
        doorbells++;
        synchronized (driver) {
            driver.guest.write32(ImmRegisters.DOORBELL_BAR, doorbell, 0xdead);
        }
    }

    int inFlight() {
        return submitted - taken;
    }

    int complete() {
        return (int) WORD.getAcquire(page, (long) ContextPage.COMPLETE);
    }

    int state() {
        return (int) WORD.getAcquire(page, (long) ContextPage.STATE);
    }

    int word(int field) {
        return (int) WORD.getAcquire(page, (long) field);
    }

    boolean doorbellWanted() {
        return (int) WORD.getAcquire(page, (long) ContextPage.DOORBELL_WANTED) != 0;
    }

    /** The next result if it is there, else null. */
    Result poll() {
        return complete() == taken ? null : take();
    }

    private Result take() {
        int index = taken++;
        long at = ContextPage.COMPLETIONS + (index & (ContextPage.SLOTS - 1)) * (long) Completion.BYTES;
        Result r = new Result(
                page.get(INT, at + Completion.STATUS),
                page.get(INT, at + Completion.LENGTH),
                page.get(LONG, at + Completion.VALUE),
                page.get(LONG, at + Completion.TAG),
                page.get(INT, at + Completion.SOURCE_NODE) & 0xffff,
                page.get(INT, at + Completion.SOURCE_NODE) >>> 16,
                page.get(INT, at + Completion.INDEX));
        if (r.index != index) {
            throw new AssertionError("completion of action " + r.index + " where " + index + " is due");
        }
        return r;
    }

    /** Waits for the next result. */
    Result await() {
        long end = System.nanoTime() + LIMIT_NANOS;
        for (int spins = 0; ; spins++) {
            Result r = poll();
            if (r != null) {
                return r;
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("no result of action " + taken + " of " + driver.module + " context " + context
                        + ": submitted " + submitted + ", complete " + complete() + ", state " + state() + ", "
                        + driver.module.counters());
            }
            if (spins > 100) {
                LockSupport.parkNanos(10_000);
            }
        }
    }

    /** Bytes that a GET left in the inline area. */
    byte[] inline(long offset, int length) {
        return page.asSlice(ContextPage.INLINE_OFFSET + offset, length).toArray(ValueLayout.JAVA_BYTE);
    }
}
