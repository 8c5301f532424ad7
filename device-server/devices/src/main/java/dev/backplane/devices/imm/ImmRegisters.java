// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.RO;
import static dev.backplane.vfiouser.layout.Access.RW;
import static dev.backplane.vfiouser.layout.Access.RW1C;
import static dev.backplane.vfiouser.layout.Access.WO;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * BAR 0 of the messaging module: the privileged registers, mapped by the driver alone. BAR 2 holds one trapped doorbell
 * page for each context, BAR 4 one page of context registers for each ({@link ContextPage}), which the client maps into
 * the guest; context n is at n * stride in both. After the last context page follows {@link LifePage}.
 */
public final class ImmRegisters {
    /** Bytes of BAR 0. */
    public static final int BAR_BYTES = 0x10000;
    /** Statistics block: 64-bit counters, read only. */
    public static final int STATISTICS = 0x1000;
    /** MSI-X table. */
    public static final int MSIX_TABLE = 0x8000;
    /** MSI-X pending-bit array. */
    public static final int MSIX_PBA = 0xc000;

    /** BAR of the doorbell pages. */
    public static final int DOORBELL_BAR = 2;
    /** BAR of the context pages. */
    public static final int CONTEXT_BAR = 4;

    /** Vector 0 is for module events, the others are shared by the contexts: context n has vector 1 + n % 16. */
    public static final int CONTEXT_VECTORS = 16;

    /** Vectors of the MSI-X table. */
    public static final int VECTORS = 1 + CONTEXT_VECTORS;

    /** "BIMM", little-endian. */
    public static final int MAGIC_VALUE = 0x4d4d4942;
    /** Major version in the upper half: drivers refuse another major. */
    public static final int VERSION_VALUE = 0x0001_0000;

    /** The control block. */
    public static final Struct LAYOUT = Struct.registers(
                    "bp_imm_reg", "Inter-node messaging module, BAR 0: privileged registers.")
            .u32("magic", RO, MAGIC_VALUE, "\"BIMM\": tells a messaging module from a dead one (all-ones).")
            .u32("version", RO, VERSION_VALUE, "Interface version: major << 16 | minor. Drivers refuse another major.")
            .u64("features", RO, "BP_IMM_FEATURE_* that the module offers.")
            .u64("driver_features", RW, "BP_IMM_FEATURE_* that the driver uses; fixed while enabled.")
            .u32("control", RW, "BP_IMM_CONTROL_*.")
            .u32("status", RO, "BP_IMM_STATE_*.")
            .u32("error", RO, "BP_IMM_ERROR_* that made the module fail; 0 while it works.")
            .u32("epoch", RO, "Grows by one at each reset; what belongs to an old epoch is dropped.")
            .u32("node_id", RO, "Id of this node, from 1 on.")
            .u32("context_count", RO, "Contexts of this module.")
            .u32("context_stride", RO, "Bytes between two context pages, and between two doorbell pages.")
            .u32("ring_count", RO, "Ring ids of this node: 0 to ring_count - 1.")
            .u32("memory_count", RO, "Registered memories of one context: ids 0 to memory_count - 1.")
            .u32("max_pages", RO, "Most pages of one registered memory.")
            .u64("event_table", RW, "Guest address of a u32 for each context, 64-byte aligned: its count of events.")
            .u32("event_status", RW1C, "BP_IMM_EVENT_* that happened since they were last cleared.")
            .u32("scratch", RW, "Holds what was written, for self-tests.")
            .u64("admin_command", RW, "Guest address of struct bp_imm_admin, 64-byte aligned.")
            .u32(
                    "admin_doorbell",
                    WO,
                    "Write: carries out the command at admin_command before the write completes; if that takes messages"
                            + " because guest memory is not shared, admin_status is BUSY until then, and the command and"
                            + " its lists have to stay.")
            .u32("admin_status", RO, "BP_IMM_ADMIN_* of the latest command.")
            .u64("admin_result", RO, "Result of the latest command.")
            .u32(
                    "bad_accesses",
                    RO,
                    "Accesses to nothing, of a wrong width, or with a value out of range (low 32 bits).")
            .reservedTo(0x100)
            .size(0x100);

    public static final int MAGIC = LAYOUT.offset("magic");
    public static final int VERSION = LAYOUT.offset("version");
    public static final int FEATURES = LAYOUT.offset("features");
    public static final int DRIVER_FEATURES = LAYOUT.offset("driver_features");
    public static final int CONTROL = LAYOUT.offset("control");
    public static final int STATUS = LAYOUT.offset("status");
    public static final int ERROR = LAYOUT.offset("error");
    public static final int EPOCH = LAYOUT.offset("epoch");
    public static final int NODE_ID = LAYOUT.offset("node_id");
    public static final int CONTEXT_COUNT = LAYOUT.offset("context_count");
    public static final int CONTEXT_STRIDE = LAYOUT.offset("context_stride");
    public static final int RING_COUNT = LAYOUT.offset("ring_count");
    public static final int MEMORY_COUNT = LAYOUT.offset("memory_count");
    public static final int MAX_PAGES = LAYOUT.offset("max_pages");
    public static final int EVENT_TABLE = LAYOUT.offset("event_table");
    public static final int EVENT_STATUS = LAYOUT.offset("event_status");
    public static final int SCRATCH = LAYOUT.offset("scratch");
    public static final int ADMIN_COMMAND = LAYOUT.offset("admin_command");
    public static final int ADMIN_DOORBELL = LAYOUT.offset("admin_doorbell");
    public static final int ADMIN_STATUS = LAYOUT.offset("admin_status");
    public static final int ADMIN_RESULT = LAYOUT.offset("admin_result");
    public static final int BAD_ACCESSES = LAYOUT.offset("bad_accesses");

    public static final int CONTROL_ENABLE = 1;
    public static final int CONTROL_RESET = 2;
    public static final int STATE_IDLE = 0;
    public static final int STATE_RUNNING = 1;
    public static final int STATE_FAILED = 2;
    public static final int ERROR_NOT_MAPPED = 1;
    public static final int ERROR_NOT_SHARED = 2;
    public static final int ERROR_BROKEN_MEMORY = 3;
    public static final int ERROR_INTERNAL = 4;
    public static final int EVENT_CONTEXT = 1;
    public static final int EVENT_ERROR = 2;
    public static final int FEATURE_ONE_SIDED = 1;
    public static final int FEATURE_ATOMICS = 2;
    public static final int FEATURE_WAIT = 4;
    public static final int FEATURE_LIFE = 8;

    /** Bits, values and limits that go with the registers. */
    public static final Constants CONSTANTS = Constants.of(
                    "Messaging module", "values of its registers, and places in its BARs")
            .add("BP_IMM_MAGIC", MAGIC_VALUE, "value of magic")
            .add("BP_IMM_VERSION", VERSION_VALUE, "value of version")
            .add("BP_IMM_BAR_BYTES", BAR_BYTES, "size of BAR 0")
            .add("BP_IMM_STATISTICS", STATISTICS, "statistics block in BAR 0")
            .add("BP_IMM_DOORBELL_BAR", DOORBELL_BAR, "BAR of the doorbell pages")
            .add("BP_IMM_CONTEXT_BAR", CONTEXT_BAR, "BAR of the context pages")
            .add("BP_IMM_CONTEXT_VECTORS", CONTEXT_VECTORS, "context n has MSI-X vector 1 + n % this")
            .add("BP_IMM_CONTROL_ENABLE", CONTROL_ENABLE, "RW: the module works")
            .add("BP_IMM_CONTROL_RESET", CONTROL_RESET, "write 1: reset; reads 0 once done")
            .add("BP_IMM_STATE_IDLE", STATE_IDLE, "after reset, not enabled")
            .add("BP_IMM_STATE_RUNNING", STATE_RUNNING, "enabled")
            .add("BP_IMM_STATE_FAILED", STATE_FAILED, "stopped by an error; reset recovers")
            .add("BP_IMM_ERROR_NONE", 0, "no error")
            .add("BP_IMM_ERROR_NOT_MAPPED", ERROR_NOT_MAPPED, "the event table is not in guest memory")
            .add(
                    "BP_IMM_ERROR_NOT_SHARED",
                    ERROR_NOT_SHARED,
                    "guest memory is neither shared nor accessible by message")
            .add("BP_IMM_ERROR_BROKEN_MEMORY", ERROR_BROKEN_MEMORY, "guest memory was truncated")
            .add("BP_IMM_ERROR_INTERNAL", ERROR_INTERNAL, "fault of the device server, see its log")
            .add("BP_IMM_EVENT_CONTEXT", EVENT_CONTEXT, "a context has an event; only without MSI-X")
            .add("BP_IMM_EVENT_ERROR", EVENT_ERROR, "the module failed, see error")
            .add("BP_IMM_FEATURE_ONE_SIDED", FEATURE_ONE_SIDED, "READ and WRITE on registered memory")
            .add("BP_IMM_FEATURE_ATOMICS", FEATURE_ATOMICS, "FETCH_ADD and COMPARE_SWAP")
            .add("BP_IMM_FEATURE_WAIT", FEATURE_WAIT, "actions may wait a bounded time instead of FULL or EMPTY")
            .add("BP_IMM_FEATURE_LIFE", FEATURE_LIFE, "struct bp_imm_life tells when the device server has ended")
            .build();

    private ImmRegisters() {}
}
