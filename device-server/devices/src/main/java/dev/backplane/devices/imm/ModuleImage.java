// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.devices.Node;
import dev.backplane.vfiouser.layout.Struct;
import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The saved state of a stopped module: a header, the module's block, and for each bound context its page, its registered
 * memories with their page lists, and the node lists of its rings. All of it is hostile when it comes back: it is checked
 * as the driver's commands are, before anything acts on it.
 */
final class ModuleImage {
    /** "BIMS", little-endian. */
    private static final int MAGIC = 0x534d_4942;

    private static final int VERSION = 1;

    private static final Struct HEADER = Struct.memory("bp_imm_saved", "Head of a saved messaging module.")
            .u32("magic", DEVICE, "\"BIMS\".")
            .u32("version", DEVICE, "Of this layout.")
            .u32("node", DEVICE, "Id of the node.")
            .u32("contexts", DEVICE, "As the register context_count.")
            .u32("stride", DEVICE, "As the register context_stride.")
            .u32("rings", DEVICE, "As the register ring_count.")
            .u32("memories", DEVICE, "As the register memory_count.")
            .reservedTo(32)
            .size(32);

    private final MessagingModule module;
    private final MessagingConfig config;
    private final ModuleBlock block;

    ModuleImage(MessagingModule module) {
        this.module = module;
        this.config = module.fabric().config();
        this.block = module.block();
    }

    private List<Binding> bindings() {
        List<Binding> bound = new ArrayList<>();
        for (int n = 0; n < config.contexts(); n++) {
            Binding b = module.contexts().context(n).binding();
            if (b != null) {
                bound.add(b);
            }
        }
        return bound;
    }

    /** Size of the state as it would be saved now. */
    long bytes() {
        ImageCursor size = ImageCursor.counting();
        write(size);
        return size.position();
    }

    void save(MemorySegment out) {
        write(ImageCursor.over(out));
    }

    private void write(ImageCursor out) {
        out.putInt(MAGIC);
        out.putInt(VERSION);
        out.putInt(module.node().id());
        out.putInt(config.contexts());
        out.putInt(config.stride());
        out.putInt(config.rings());
        out.putInt(config.memories());
        out.align(HEADER.size());
        out.putBytes(block.segment());
        for (Binding b : bindings()) {
            out.putBytes(module.pages().page(b.context.number));
            RegisteredMemory[] memories = b.memories();
            out.putInt((int) Arrays.stream(memories).filter(Objects::nonNull).count());
            out.putInt(b.rings().length);
            for (RegisteredMemory m : memories) {
                if (m != null) {
                    write(out, m);
                }
            }
            for (Ring ring : b.rings()) {
                out.putInt(ring.id);
                writeNodes(out, ring.nodes);
            }
        }
    }

    private static void write(ImageCursor out, RegisteredMemory m) {
        long[] pages = m.pages();
        out.putInt(m.id);
        out.putInt(m.flags);
        out.putInt(m.pageShift);
        out.putInt(pages.length);
        out.putLong(m.key);
        out.putLong(m.firstOffset);
        out.putLong(m.bytes);
        for (long page : pages) {
            out.putLong(page);
        }
        writeNodes(out, m.nodes);
    }

    private static void writeNodes(ImageCursor out, NodeSet nodes) {
        short[] ids = nodes.ids();
        out.putInt(ids.length);
        for (short id : ids) {
            out.putInt(id);
        }
        out.align(8);
    }

    /** Rebuilds the module, which is stopped and reset; throws {@link IllegalArgumentException} and leaves a ruin. */
    void restore(MemorySegment from) {
        ImageCursor in = ImageCursor.over(from);
        require("magic", in.getInt(), MAGIC);
        require("version", in.getInt(), VERSION);
        require("node", in.getInt(), module.node().id());
        require("contexts", in.getInt(), config.contexts());
        require("stride", in.getInt(), config.stride());
        require("rings", in.getInt(), config.rings());
        require("memories", in.getInt(), config.memories());
        in.align(HEADER.size());
        in.getBytes(block.segment());
        ModuleState state = restoredState();
        GuestMemory guest = module.guest();
        int use = guest.enter();
        try {
            long table = block.getLong(ModuleBlock.EVENT_TABLE);
            if (guest.byMessage() && !guest.shared(table, 4L * config.contexts())) {
                module.goSlow();
            }
            boolean[] seen = new boolean[config.rings()];
            for (int n = 0; n < config.contexts(); n++) {
                restoreContext(in, module.contexts().context(n), guest, seen);
            }
            for (int id = 0; id < seen.length; id++) {
                check(seen[id] || block.getInt(block.ring(id) + ModuleBlock.RING_STATE) == 0, "ring", id);
            }
        } finally {
            guest.exit(use);
        }
        module.adopt(state);
    }

    private ModuleState restoredState() {
        for (ModuleState s : ModuleState.values()) {
            if (s.value() == block.getInt(ModuleBlock.STATE)) {
                return s;
            }
        }
        throw bad("state", block.getInt(ModuleBlock.STATE));
    }

    private void restoreContext(ImageCursor in, GetPutContext context, GuestMemory guest, boolean[] seen) {
        int value = block.getInt(block.context(context.number) + ModuleBlock.CONTEXT_STATE);
        if (value == ContextState.CLOSED.value()) {
            return;
        }
        check(value == ContextState.OPEN.value() || value == ContextState.ERROR.value(), "context state", value);
        in.getBytes(module.pages().page(context.number));
        Binding b = context.adopt(value == ContextState.OPEN.value() ? ContextState.OPEN : ContextState.ERROR);
        int memories = in.getInt();
        int rings = in.getInt();
        check(memories >= 0 && memories <= config.memories(), "memories", memories);
        check(rings >= 0 && rings <= config.rings(), "rings", rings);
        for (int i = 0; i < memories; i++) {
            b.put(memory(in, b, guest));
        }
        for (int i = 0; i < rings; i++) {
            int id = in.getInt();
            check(id >= 0 && id < seen.length && !seen[id], "ring", id);
            seen[id] = true;
            ring(b, id, nodes(in));
        }
    }

    private RegisteredMemory memory(ImageCursor in, Binding b, GuestMemory guest) {
        int id = in.getInt();
        int flags = in.getInt();
        int shift = in.getInt();
        int count = in.getInt();
        long key = in.getLong();
        long first = in.getLong();
        long bytes = in.getLong();
        check(id >= 0 && id < config.memories() && b.memory(id) == null, "memory", id);
        check(RegisteredMemory.plausible(count, config.maxPages(), shift, first, bytes), "memory size", bytes);
        long[] pages = new long[count];
        for (int i = 0; i < count; i++) {
            pages[i] = in.getLong();
            check(RegisteredMemory.aligned(pages[i], shift), "page", pages[i]);
            access(guest, pages[i], 1L << shift, "page");
        }
        return new RegisteredMemory(b, id, flags, key, nodes(in), pages, shift, first, bytes);
    }

    /** Refuses what is not there, and has the module go slow for what is not shared. */
    private void access(GuestMemory guest, long at, long bytes, String what) {
        if (!guest.shared(at, bytes)) {
            check(guest.byMessage() && guest.writable(at, bytes), what, at);
            module.goSlow();
        }
    }

    private static NodeSet nodes(ImageCursor in) {
        int count = in.getInt();
        check(count >= 0 && count <= AdminUnit.MAX_NODES, "nodes", count);
        short[] ids = new short[count];
        for (int i = 0; i < count; i++) {
            int id = in.getInt();
            check(id >= 1 && id <= Node.MAX_ID, "node", id);
            ids[i] = (short) id;
        }
        in.align(8);
        return NodeSet.of(ids);
    }

    private void ring(Binding b, int id, NodeSet nodes) {
        long record = block.ring(id);
        RegisteredMemory memory = b.memory(block.getInt(record + ModuleBlock.RING_MEMORY));
        long capacity = block.getLong(record + ModuleBlock.RING_CAPACITY);
        long offset = block.getLong(record + ModuleBlock.RING_OFFSET);
        long tail = block.getLong(record + ModuleBlock.RING_TAIL);
        long head = block.getLong(record + ModuleBlock.RING_HEAD);
        int state = block.getInt(record + ModuleBlock.RING_STATE);
        check(block.getInt(record + ModuleBlock.RING_CONTEXT) == b.context.number, "owner of ring", id);
        check(memory != null && RingBuffer.plausible(memory, offset, capacity), "place of ring", id);
        check(RingBuffer.plausible(tail, head, capacity), "positions of ring", id);
        check(state == RingState.OPEN.value() || state == RingState.CORRUPT.value(), "ring state", state);
        Ring ring = new Ring(module, b, id, memory, nodes);
        if (state == RingState.CORRUPT.value()) {
            ring.restoreCorrupt();
        }
        module.contexts().adopt(ring);
    }

    private static void require(String what, long found, long wanted) {
        if (found != wanted) {
            throw new IllegalArgumentException(
                    "saved messaging module: " + what + " is " + found + ", here it is " + wanted);
        }
    }

    private static void check(boolean ok, String what, long value) {
        if (!ok) {
            throw bad(what, value);
        }
    }

    private static IllegalArgumentException bad(String what, long value) {
        return new IllegalArgumentException("saved messaging module: " + what + " cannot be " + value);
    }
}
