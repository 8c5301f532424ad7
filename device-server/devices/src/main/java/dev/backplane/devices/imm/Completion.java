// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/** How an action ended: every action ends in a status, never in silence. */
public final class Completion {
    public static final Struct LAYOUT = Struct.memory("bp_imm_completion", "How an action ended.")
            .u32("status", DEVICE, "BP_IMM_STATUS_*.")
            .u32("length", DEVICE, "Payload bytes moved. TOO_LONG: bytes needed (GET) or allowed (PUT).")
            .u64("value", DEVICE, "PUT, GET: the element's sequence number. Atomics: the old value.")
            .u64("tag", DEVICE, "GET: the element's tag.")
            .u16("source_node", DEVICE, "GET: node that put the element.")
            .u16("source_context", DEVICE, "GET: context that put the element.")
            .u32("index", DEVICE, "Index of the action that this is the completion of.")
            .size(32);

    public static final int BYTES = LAYOUT.size();
    public static final int STATUS = LAYOUT.offset("status");
    public static final int LENGTH = LAYOUT.offset("length");
    public static final int VALUE = LAYOUT.offset("value");
    public static final int TAG = LAYOUT.offset("tag");
    public static final int SOURCE_NODE = LAYOUT.offset("source_node");
    public static final int SOURCE_CONTEXT = LAYOUT.offset("source_context");
    public static final int INDEX = LAYOUT.offset("index");

    public static final int OK = 1;
    public static final int FULL = 2;
    public static final int EMPTY = 3;
    public static final int DENIED = 4;
    public static final int NO_SUCH_RING = 5;
    public static final int TOO_LONG = 6;
    public static final int UNREACHABLE = 7;
    public static final int ABORTED = 8;
    public static final int BAD_COMMAND = 9;
    public static final int BAD_ADDRESS = 10;
    public static final int RING_CORRUPT = 11;
    public static final int TIMED_OUT = 12;
    public static final int NO_SUCH_MEMORY = 13;

    public static final Constants CONSTANTS = Constants.of("Action status", "status of a completion")
            .add("BP_IMM_STATUS_NONE", 0, "not complete")
            .add("BP_IMM_STATUS_OK", OK, "done")
            .add("BP_IMM_STATUS_FULL", FULL, "PUT: the ring has no room now")
            .add("BP_IMM_STATUS_EMPTY", EMPTY, "GET: the ring has no element now")
            .add("BP_IMM_STATUS_DENIED", DENIED, "wrong key, node without access, or the wrong direction")
            .add("BP_IMM_STATUS_NO_SUCH_RING", NO_SUCH_RING, "the target has no such ring")
            .add("BP_IMM_STATUS_TOO_LONG", TOO_LONG, "payload exceeds the ring's limit, or GET's room")
            .add("BP_IMM_STATUS_UNREACHABLE", UNREACHABLE, "no such node, or it is not running")
            .add(
                    "BP_IMM_STATUS_ABORTED",
                    ABORTED,
                    "the context was closed or reset meanwhile, or it is not known whether it has happened")
            .add("BP_IMM_STATUS_BAD_COMMAND", BAD_COMMAND, "no such command, or unknown flags")
            .add("BP_IMM_STATUS_BAD_ADDRESS", BAD_ADDRESS, "payload lies outside the memory or the inline area")
            .add("BP_IMM_STATUS_RING_CORRUPT", RING_CORRUPT, "the ring's owner broke its indices")
            .add("BP_IMM_STATUS_TIMED_OUT", TIMED_OUT, "still FULL or EMPTY after the wait")
            .add("BP_IMM_STATUS_NO_SUCH_MEMORY", NO_SUCH_MEMORY, "no such registered memory")
            .build();

    private Completion() {}
}
