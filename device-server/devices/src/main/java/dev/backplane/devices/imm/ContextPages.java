// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The mapped context pages of one module ({@link ContextPage}). All that is read here comes from a process and is
 * hostile; of the device's own fields nothing is ever read back. Touched only inside a use of the guest's memory, or by
 * the client's thread.
 */
final class ContextPages {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INDEX = INT.varHandle();

    private final MemorySegment bar;
    private final long stride;

    ContextPages(MemorySegment bar, long stride) {
        this.bar = bar;
        this.stride = stride;
    }

    /** The memory of all pages, for payloads. */
    MemorySegment memory() {
        return bar;
    }

    /** Where in {@link #memory} the inline area of a context starts. */
    long inline(int context) {
        return context * stride + ContextPage.INLINE_OFFSET;
    }

    /** The process's index; the actions before it are visible afterwards. */
    int submit(int context) {
        return (int) INDEX.getAcquire(bar, context * stride + ContextPage.SUBMIT);
    }

    /** Where in {@link #memory} the action of a slot starts. */
    long action(int context, int index) {
        return context * stride + ContextPage.ACTIONS + (index & (ContextPage.SLOTS - 1)) * (long) Action.BYTES;
    }

    long getLong(long at) {
        return bar.get(LONG, at);
    }

    /** Writes a completion into its slot and then, with release, the index behind it. */
    void complete(int context, int index, Request r) {
        long page = context * stride;
        long at = page + ContextPage.COMPLETIONS + (index & (ContextPage.SLOTS - 1)) * (long) Completion.BYTES;
        bar.set(LONG, at + Completion.STATUS, r.status | (long) r.resultLength << 32);
        bar.set(LONG, at + Completion.VALUE, r.resultValue);
        bar.set(LONG, at + Completion.TAG, r.resultTag);
        bar.set(LONG, at + Completion.SOURCE_NODE, (r.resultSource & 0xffff_ffffL) | (long) index << 32);
        // Pairs with bp_look() in libbackplane, which loads complete with acquire before it reads the completion.
        INDEX.setRelease(bar, page + ContextPage.COMPLETE, index + 1);
    }

    void doorbellWanted(int context, boolean wanted) {
        bar.set(INT, context * stride + ContextPage.DOORBELL_WANTED, wanted ? 1 : 0);
    }

    /** Tells the process what became of its context. */
    void state(int context, ContextState state) {
        INDEX.setRelease(bar, context * stride + ContextPage.STATE, state.value());
    }

    /** Makes a page ready for a process that has never seen it. */
    void open(int context, int generation, int node, boolean doorbellWanted) {
        clear(context);
        long page = context * stride;
        bar.set(INT, page + ContextPage.GENERATION, generation);
        bar.set(INT, page + ContextPage.CONTEXT, context);
        bar.set(INT, page + ContextPage.NODE, node);
        doorbellWanted(context, doorbellWanted);
        state(context, ContextState.OPEN);
    }

    /** Zeroes a page, the part beyond {@link ContextPage#BYTES} included: nothing passes from one process to the next. */
    void clear(int context) {
        page(context).fill((byte) 0);
    }

    MemorySegment page(int context) {
        return bar.asSlice(context * stride, stride);
    }
}
