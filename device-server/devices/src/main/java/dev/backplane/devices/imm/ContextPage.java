// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;
import static dev.backplane.vfiouser.layout.Access.PROCESS;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.FieldType;
import dev.backplane.vfiouser.layout.Struct;

/**
 * One instance of a GET/PUT context (US 9,672,143, claim 1): the page of registers that one user process maps. An action
 * with index i (free-running) is in slot i % SLOTS; the process assesses that the slot's previous action is complete,
 * populates the slot, then stores {@code submit} with release: one more than the index of its last action. The module
 * carries the actions of a context out in order, stores the completion, then {@code complete} with release.
 */
public final class ContextPage {
    /** Action slots of a context. */
    public static final int SLOTS = 8;
    /** Bytes of a context page that have a meaning; the stride may be larger. */
    public static final int BYTES = 4096;
    /** Start of the inline payload area, bytes from the page's start. */
    public static final int INLINE_OFFSET = 0x400;
    /** Bytes of the inline payload area. */
    public static final int INLINE_BYTES = BYTES - INLINE_OFFSET;
    /** Start of the action slots ({@link Action}). */
    public static final int ACTIONS = 0x80;
    /** Start of the completions ({@link Completion}). */
    public static final int COMPLETIONS = ACTIONS + SLOTS * 64;

    public static final Struct LAYOUT = Struct.memory(
                    "bp_imm_context", "A GET/PUT context (US 9,672,143, claim 1): one page, mapped by one process.")
            .u32("submit", PROCESS, "One past the index of the last action submitted; stored with release.")
            .reservedTo(0x40)
            .u32("complete", DEVICE, "One past the index of the last action completed; stored with release.")
            .u32("doorbell_wanted", DEVICE, "Not 0: the module sleeps; ring the doorbell after storing submit.")
            .u32("state", DEVICE, "BP_IMM_CONTEXT_*.")
            .u32("generation", DEVICE, "Of this binding of the context to a process.")
            .u32("context", DEVICE, "Number of this context.")
            .u32("node", DEVICE, "Id of this node.")
            .reservedTo(ACTIONS)
            .array("actions", FieldType.U64, SLOTS * Action.BYTES / 8, PROCESS, "struct bp_imm_action, one a slot.")
            .array(
                    "completions",
                    FieldType.U64,
                    SLOTS * Completion.BYTES / 8,
                    DEVICE,
                    "struct bp_imm_completion, one a slot.")
            .reservedTo(INLINE_OFFSET)
            .array("inline_data", FieldType.U8, INLINE_BYTES, PROCESS, "Payload; the module writes here for GET.")
            .size(BYTES);

    public static final int SUBMIT = LAYOUT.offset("submit");
    public static final int COMPLETE = LAYOUT.offset("complete");
    public static final int DOORBELL_WANTED = LAYOUT.offset("doorbell_wanted");
    public static final int STATE = LAYOUT.offset("state");
    public static final int GENERATION = LAYOUT.offset("generation");
    public static final int CONTEXT = LAYOUT.offset("context");
    public static final int NODE = LAYOUT.offset("node");

    public static final int STATE_CLOSED = 0;
    public static final int STATE_OPEN = 1;
    public static final int STATE_ERROR = 2;
    public static final int STATE_DEAD = 3;

    public static final Constants CONSTANTS = Constants.of("Context", "places and states of a context page")
            .add("BP_IMM_SLOTS", SLOTS, "action slots of a context")
            .add("BP_IMM_INLINE_OFFSET", INLINE_OFFSET, "start of the inline payload area")
            .add("BP_IMM_INLINE_BYTES", INLINE_BYTES, "bytes of the inline payload area")
            .add("BP_IMM_CONTEXT_CLOSED", STATE_CLOSED, "bound to no process")
            .add("BP_IMM_CONTEXT_OPEN", STATE_OPEN, "works")
            .add("BP_IMM_CONTEXT_ERROR", STATE_ERROR, "submit was impossible: close and open it again")
            .add("BP_IMM_CONTEXT_DEAD", STATE_DEAD, "the module was reset: close and open it again")
            .build();

    private ContextPage() {}
}
