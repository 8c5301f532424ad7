// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DRIVER;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.FieldType;
import dev.backplane.vfiouser.layout.Struct;

/**
 * A command of the driver: all that is privileged goes through it. Fields that a command does not name are zero. Its
 * status and result are registers, so that the command itself has one writer.
 */
public final class AdminCommand {
    public static final Struct LAYOUT = Struct.memory("bp_imm_admin", "A privileged command of the driver.")
            .u16("opcode", DRIVER, "BP_IMM_ADMIN_OP_*.")
            .u16("flags", DRIVER, "Of the command: BP_IMM_RING_* or BP_IMM_MEMORY_*.")
            .u32("context", DRIVER, "Context that the command is for.")
            .u32("generation", DRIVER, "The context's generation, as CONTEXT_OPEN gave it.")
            .u32("memory", DRIVER, "Id of a registered memory of the context.")
            .u64("pages", DRIVER, "MEMORY_REGISTER: guest address of the page list, one u64 for each page.")
            .u32("page_count", DRIVER, "MEMORY_REGISTER: pages in the list.")
            .u32("page_shift", DRIVER, "MEMORY_REGISTER: a page has 1 << page_shift bytes; 12 to 21.")
            .u64("first_offset", DRIVER, "MEMORY_REGISTER: offset of the memory's first byte in the first page.")
            .u64("bytes", DRIVER, "MEMORY_REGISTER: size of the memory. RING_CREATE: capacity of the ring.")
            .u64("key", DRIVER, "Key that an action from elsewhere has to bring.")
            .u64("nodes", DRIVER, "Guest address of a list of u16 node ids that have access; used if node_count > 0.")
            .u32("node_count", DRIVER, "Nodes in the list, to 256; 0: every node of the partition.")
            .u32("ring", DRIVER, "RING_*: ring id; all-ones in RING_CREATE: any free one.")
            .u64("ring_offset", DRIVER, "RING_CREATE: offset of struct bp_imm_ring in the memory, 4096-byte aligned.")
            .array("reserved_80", FieldType.U64, 6, DRIVER, "Zero.")
            .size(128);

    public static final int BYTES = LAYOUT.size();
    public static final int OPCODE = LAYOUT.offset("opcode");
    public static final int FLAGS = LAYOUT.offset("flags");
    public static final int CONTEXT = LAYOUT.offset("context");
    public static final int GENERATION = LAYOUT.offset("generation");
    public static final int MEMORY = LAYOUT.offset("memory");
    public static final int PAGES = LAYOUT.offset("pages");
    public static final int PAGE_COUNT = LAYOUT.offset("page_count");
    public static final int PAGE_SHIFT = LAYOUT.offset("page_shift");
    public static final int FIRST_OFFSET = LAYOUT.offset("first_offset");
    public static final int SIZE = LAYOUT.offset("bytes");
    public static final int KEY = LAYOUT.offset("key");
    public static final int NODES = LAYOUT.offset("nodes");
    public static final int NODE_COUNT = LAYOUT.offset("node_count");
    public static final int RING = LAYOUT.offset("ring");
    public static final int RING_OFFSET = LAYOUT.offset("ring_offset");

    public static final int OP_CONTEXT_OPEN = 1;
    public static final int OP_CONTEXT_CLOSE = 2;
    public static final int OP_MEMORY_REGISTER = 3;
    public static final int OP_MEMORY_UNREGISTER = 4;
    public static final int OP_RING_CREATE = 5;
    public static final int OP_RING_DESTROY = 6;

    public static final int RING_SHARED_CONSUMERS = 1;
    public static final int RING_WRITE_ONLY = 2;
    public static final int RING_READ_ONLY = 4;
    public static final int MEMORY_REMOTE_READ = 1;
    public static final int MEMORY_REMOTE_WRITE = 2;
    public static final int MEMORY_REMOTE_ATOMIC = 4;
    public static final int ANY_RING = 0xffff_ffff;

    public static final int STATUS_OK = 0;
    public static final int STATUS_BAD_COMMAND = 1;
    public static final int STATUS_BAD_CONTEXT = 2;
    public static final int STATUS_STALE = 3;
    public static final int STATUS_BAD_MEMORY = 4;
    public static final int STATUS_BAD_ADDRESS = 5;
    public static final int STATUS_BAD_RING = 6;
    public static final int STATUS_IN_USE = 7;
    public static final int STATUS_NO_SPACE = 8;
    public static final int STATUS_NOT_ENABLED = 9;
    public static final int STATUS_BAD_VALUE = 10;
    public static final int STATUS_BUSY = 11;

    public static final Constants CONSTANTS = Constants.of(
                    "Admin command", "opcodes, flags and status of the driver's commands")
            .add("BP_IMM_ADMIN_OP_CONTEXT_OPEN", OP_CONTEXT_OPEN, "zeroes the page, result: new generation")
            .add("BP_IMM_ADMIN_OP_CONTEXT_CLOSE", OP_CONTEXT_CLOSE, "ends actions, withdraws rings and memories")
            .add("BP_IMM_ADMIN_OP_MEMORY_REGISTER", OP_MEMORY_REGISTER, "makes a page list known as memory")
            .add("BP_IMM_ADMIN_OP_MEMORY_UNREGISTER", OP_MEMORY_UNREGISTER, "once done, nothing touches the pages")
            .add("BP_IMM_ADMIN_OP_RING_CREATE", OP_RING_CREATE, "opens a ring in a memory, result: ring id")
            .add("BP_IMM_ADMIN_OP_RING_DESTROY", OP_RING_DESTROY, "closes a ring")
            .add(
                    "BP_IMM_RING_SHARED_CONSUMERS",
                    RING_SHARED_CONSUMERS,
                    "elements leave by GET only, head is the device's")
            .add("BP_IMM_RING_WRITE_ONLY", RING_WRITE_ONLY, "other nodes may PUT, not GET")
            .add("BP_IMM_RING_READ_ONLY", RING_READ_ONLY, "other nodes may GET, not PUT")
            .add("BP_IMM_MEMORY_REMOTE_READ", MEMORY_REMOTE_READ, "READ from elsewhere is allowed")
            .add("BP_IMM_MEMORY_REMOTE_WRITE", MEMORY_REMOTE_WRITE, "WRITE from elsewhere is allowed")
            .add("BP_IMM_MEMORY_REMOTE_ATOMIC", MEMORY_REMOTE_ATOMIC, "atomics from elsewhere are allowed")
            .add("BP_IMM_ANY_RING", ANY_RING & 0xffff_ffffL, "any free ring id")
            .add("BP_IMM_ADMIN_OK", STATUS_OK, "done")
            .add("BP_IMM_ADMIN_BAD_COMMAND", STATUS_BAD_COMMAND, "no such opcode, or unknown flags")
            .add("BP_IMM_ADMIN_BAD_CONTEXT", STATUS_BAD_CONTEXT, "no such context, or it is not open")
            .add("BP_IMM_ADMIN_STALE", STATUS_STALE, "another generation of the context")
            .add("BP_IMM_ADMIN_BAD_MEMORY", STATUS_BAD_MEMORY, "no such memory, or id out of range")
            .add("BP_IMM_ADMIN_BAD_ADDRESS", STATUS_BAD_ADDRESS, "command, list or page is not in guest memory")
            .add("BP_IMM_ADMIN_BAD_RING", STATUS_BAD_RING, "no such ring, not this context's, or id out of range")
            .add("BP_IMM_ADMIN_IN_USE", STATUS_IN_USE, "id is taken, or memory holds a ring")
            .add("BP_IMM_ADMIN_NO_SPACE", STATUS_NO_SPACE, "no free ring id")
            .add("BP_IMM_ADMIN_NOT_ENABLED", STATUS_NOT_ENABLED, "the module is not enabled")
            .add("BP_IMM_ADMIN_BAD_VALUE", STATUS_BAD_VALUE, "size, alignment or count out of range")
            .add(
                    "BP_IMM_ADMIN_BUSY",
                    STATUS_BUSY,
                    "not yet carried out: it takes messages, as guest memory is not shared; read the status again")
            .build();

    private AdminCommand() {}
}
