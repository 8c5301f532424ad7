// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.PROCESS;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * The fields of a GET/PUT action (US 9,672,143, claim 1: "populating fields of the respective context instance"; target
 * node and ring id are claimed, the payload length in a dependent claim; the rest is ours).
 */
public final class Action {
    public static final Struct LAYOUT = Struct.memory("bp_imm_action", "The fields of one GET/PUT action.")
            .u8("command", PROCESS, "BP_IMM_CMD_*.")
            .u8("flags", PROCESS, "BP_IMM_ACTION_*.")
            .u16("target_node", PROCESS, "Id of the target node.")
            .u32("ring", PROCESS, "PUT, GET: ring id. One-sided: context << 16 | memory id at the target.")
            .u64("key", PROCESS, "Key of the ring or memory; checked at the target.")
            .u64("tag", PROCESS, "PUT: handed to the consumer with the element.")
            .u32("length", PROCESS, "Payload bytes. GET: room for the payload.")
            .u32("memory", PROCESS, "Own registered memory that holds the payload, or BP_IMM_INLINE.")
            .u64("offset", PROCESS, "Of the payload in that memory, or in the inline area.")
            .u64("remote_offset", PROCESS, "One-sided: offset in the target's memory; 8-byte aligned for atomics.")
            .u64("operand", PROCESS, "FETCH_ADD: addend. COMPARE_SWAP: expected. With WAIT: longest wait in us.")
            .u64("swap", PROCESS, "COMPARE_SWAP: new value.")
            .size(64);

    public static final int BYTES = LAYOUT.size();
    public static final int COMMAND = LAYOUT.offset("command");
    public static final int FLAGS = LAYOUT.offset("flags");
    public static final int TARGET_NODE = LAYOUT.offset("target_node");
    public static final int RING = LAYOUT.offset("ring");
    public static final int KEY = LAYOUT.offset("key");
    public static final int TAG = LAYOUT.offset("tag");
    public static final int LENGTH = LAYOUT.offset("length");
    public static final int MEMORY = LAYOUT.offset("memory");
    public static final int OFFSET = LAYOUT.offset("offset");
    public static final int REMOTE_OFFSET = LAYOUT.offset("remote_offset");
    public static final int OPERAND = LAYOUT.offset("operand");
    public static final int SWAP = LAYOUT.offset("swap");

    public static final int CMD_NOP = 0;
    public static final int CMD_PUT = 1;
    public static final int CMD_GET = 2;
    public static final int CMD_WRITE = 3;
    public static final int CMD_READ = 4;
    public static final int CMD_FETCH_ADD = 5;
    public static final int CMD_COMPARE_SWAP = 6;

    public static final int WAIT = 1;
    public static final int NOTIFY = 2;
    public static final int INLINE = 0xffff_ffff;

    public static final Constants CONSTANTS = Constants.of("Action", "commands and flags of an action")
            .add("BP_IMM_CMD_NOP", CMD_NOP, "completes at once")
            .add("BP_IMM_CMD_PUT", CMD_PUT, "appends an element to a ring")
            .add("BP_IMM_CMD_GET", CMD_GET, "removes a ring's first element")
            .add("BP_IMM_CMD_WRITE", CMD_WRITE, "one-sided write to registered memory")
            .add("BP_IMM_CMD_READ", CMD_READ, "one-sided read of registered memory")
            .add("BP_IMM_CMD_FETCH_ADD", CMD_FETCH_ADD, "64-bit fetch-and-add at the target")
            .add("BP_IMM_CMD_COMPARE_SWAP", CMD_COMPARE_SWAP, "64-bit compare-and-swap at the target")
            .add("BP_IMM_ACTION_WAIT", WAIT, "PUT, GET: wait up to operand us instead of FULL or EMPTY")
            .add("BP_IMM_ACTION_NOTIFY", NOTIFY, "an event (interrupt) when the action completes")
            .add("BP_IMM_INLINE", INLINE & 0xffff_ffffL, "memory id of the context's inline area")
            .build();

    private Action() {}
}
