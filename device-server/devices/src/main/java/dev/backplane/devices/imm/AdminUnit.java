// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.Node;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Carries out the driver's commands ({@link AdminCommand}): all that is privileged. One at a time, while the module runs;
 * by the client's thread, or, when that takes messages, on the guest's lane ({@link AdminLoop}).
 */
final class AdminUnit {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Most nodes in a list. */
    static final int MAX_NODES = 256;

    private static final int RING_FLAGS =
            AdminCommand.RING_SHARED_CONSUMERS | AdminCommand.RING_WRITE_ONLY | AdminCommand.RING_READ_ONLY;
    private static final int MEMORY_FLAGS =
            AdminCommand.MEMORY_REMOTE_READ | AdminCommand.MEMORY_REMOTE_WRITE | AdminCommand.MEMORY_REMOTE_ATOMIC;

    private final MessagingModule module;
    private final MessagingConfig config;
    private final MemorySegment command = Arena.ofAuto().allocate(AdminCommand.BYTES, 8);
    private long result;
    /** Whether this thread may wait for messages. */
    private boolean mayWait;
    /** Whether something was not accessible without messages. */
    private boolean unshared;

    AdminUnit(MessagingModule module) {
        this.module = module;
        this.config = module.fabric().config();
    }

    /** Result of the latest command. */
    long result() {
        return result;
    }

    /**
     * Copies the command at {@code address} out of guest memory and carries it out; returns its status.
     *
     * @param lane whether the thread is that of the guest's lane; on another one a command that would take messages is
     *     BUSY, and nothing has happened
     */
    int carryOut(long address, boolean lane) {
        result = 0;
        mayWait = lane;
        unshared = false;
        int status = fetchAndDispatch(address);
        return unshared ? AdminCommand.STATUS_BUSY : status;
    }

    private int fetchAndDispatch(long address) {
        GuestMemory guest = module.guest();
        int use = guest.enter();
        try {
            if (!accessible(guest, address, AdminCommand.BYTES, false)) {
                return AdminCommand.STATUS_BAD_ADDRESS;
            }
            guest.read(address, command, 0, AdminCommand.BYTES);
        } catch (GuestMemoryFault f) {
            return faulted(f);
        } finally {
            guest.exit(use);
        }
        return dispatch(guest);
    }

    /** Whether a range may be used, and may be by this thread. */
    private boolean accessible(GuestMemory guest, long at, long bytes, boolean write) {
        if (guest.direct(at, bytes, write)) {
            return true;
        }
        boolean mapped = guest.byMessage() && (write ? guest.writable(at, bytes) : guest.readable(at, bytes));
        unshared |= mapped && !mayWait;
        return mapped && mayWait;
    }

    /** The status after a fault; a command that was interrupted is carried out once more. */
    private int faulted(GuestMemoryFault f) {
        if (f.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
            return AdminCommand.STATUS_BUSY;
        }
        module.memoryFault(f);
        return AdminCommand.STATUS_BAD_ADDRESS;
    }

    private int dispatch(GuestMemory guest) {
        int opcode = u16(AdminCommand.OPCODE);
        int flags = u16(AdminCommand.FLAGS);
        int allowed = switch (opcode) {
            case AdminCommand.OP_MEMORY_REGISTER -> MEMORY_FLAGS;
            case AdminCommand.OP_RING_CREATE -> RING_FLAGS;
            default -> 0;
        };
        if (opcode < AdminCommand.OP_CONTEXT_OPEN || opcode > AdminCommand.OP_RING_DESTROY || (flags & ~allowed) != 0) {
            return AdminCommand.STATUS_BAD_COMMAND;
        }
        GetPutContext context = module.contexts().context(i32(AdminCommand.CONTEXT));
        if (context == null) {
            return AdminCommand.STATUS_BAD_CONTEXT;
        }
        Binding binding = context.binding();
        if (opcode == AdminCommand.OP_CONTEXT_OPEN) {
            if (binding != null) {
                return AdminCommand.STATUS_IN_USE;
            }
            result = module.contexts().open(context).generation & 0xffff_ffffL;
            return AdminCommand.STATUS_OK;
        }
        if (binding == null) {
            return AdminCommand.STATUS_BAD_CONTEXT;
        }
        if (binding.generation != i32(AdminCommand.GENERATION)) {
            return AdminCommand.STATUS_STALE;
        }
        return switch (opcode) {
            case AdminCommand.OP_CONTEXT_CLOSE -> {
                module.contexts().close(binding);
                yield AdminCommand.STATUS_OK;
            }
            case AdminCommand.OP_MEMORY_REGISTER -> register(guest, binding, flags);
            case AdminCommand.OP_MEMORY_UNREGISTER -> unregister(guest, binding);
            case AdminCommand.OP_RING_CREATE -> createRing(guest, binding, flags);
            default -> destroyRing(binding);
        };
    }

    private int register(GuestMemory guest, Binding binding, int flags) {
        int id = i32(AdminCommand.MEMORY);
        int count = i32(AdminCommand.PAGE_COUNT);
        int shift = i32(AdminCommand.PAGE_SHIFT);
        long first = i64(AdminCommand.FIRST_OFFSET);
        long bytes = i64(AdminCommand.SIZE);
        if (Integer.compareUnsigned(id, config.memories()) >= 0) {
            return AdminCommand.STATUS_BAD_MEMORY;
        }
        if (binding.memory(id) != null) {
            return AdminCommand.STATUS_IN_USE;
        }
        if (!RegisteredMemory.plausible(count, config.maxPages(), shift, first, bytes)) {
            return AdminCommand.STATUS_BAD_VALUE;
        }
        int use = guest.enter();
        try {
            NodeSet nodes = nodes(guest);
            if (nodes == null) {
                return AdminCommand.STATUS_BAD_VALUE;
            }
            long[] pages = pages(guest, i64(AdminCommand.PAGES), count, shift);
            if (pages == null) {
                return AdminCommand.STATUS_BAD_ADDRESS;
            }
            binding.put(
                    new RegisteredMemory(binding, id, flags, i64(AdminCommand.KEY), nodes, pages, shift, first, bytes));
            return AdminCommand.STATUS_OK;
        } catch (GuestMemoryFault f) {
            return faulted(f);
        } finally {
            guest.exit(use);
        }
    }

    /** Reads a page list, once; null if a page is not aligned, not mapped or not writable. */
    private long[] pages(GuestMemory guest, long list, int count, int shift) {
        if (!accessible(guest, list, count * 8L, false)) {
            return null;
        }
        long[] pages = new long[count];
        guest.read(list, MemorySegment.ofArray(pages), 0, count * 8L);
        for (long page : pages) {
            if (!RegisteredMemory.aligned(page, shift) || !accessible(guest, page, 1L << shift, true)) {
                return null;
            }
        }
        return pages;
    }

    /** Reads the list of nodes of the command; null if it is too long, not there, or names a node that cannot be. */
    private NodeSet nodes(GuestMemory guest) {
        int count = i32(AdminCommand.NODE_COUNT);
        if (count < 0 || count > MAX_NODES) {
            return null;
        }
        short[] ids = new short[count];
        if (count > 0) {
            if (!accessible(guest, i64(AdminCommand.NODES), count * 2L, false)) {
                return null;
            }
            guest.read(i64(AdminCommand.NODES), MemorySegment.ofArray(ids), 0, count * 2L);
        }
        for (short id : ids) {
            if (id < 1 || id > Node.MAX_ID) {
                return null;
            }
        }
        return NodeSet.of(ids);
    }

    private int unregister(GuestMemory guest, Binding binding) {
        RegisteredMemory memory = binding.memory(i32(AdminCommand.MEMORY));
        if (memory == null) {
            return AdminCommand.STATUS_BAD_MEMORY;
        }
        for (Ring ring : binding.rings()) {
            if (ring.memory == memory) {
                return AdminCommand.STATUS_IN_USE;
            }
        }
        memory.unregister();
        binding.remove(memory);
        guest.awaitUses();
        return AdminCommand.STATUS_OK;
    }

    private int createRing(GuestMemory guest, Binding binding, int flags) {
        int id = i32(AdminCommand.RING);
        long capacity = i64(AdminCommand.SIZE);
        long offset = i64(AdminCommand.RING_OFFSET);
        RegisteredMemory memory = binding.memory(i32(AdminCommand.MEMORY));
        if (memory == null) {
            return AdminCommand.STATUS_BAD_MEMORY;
        }
        if (id != AdminCommand.ANY_RING && Integer.compareUnsigned(id, config.rings()) >= 0) {
            return AdminCommand.STATUS_BAD_RING;
        }
        boolean oneWay = (flags & (AdminCommand.RING_WRITE_ONLY | AdminCommand.RING_READ_ONLY))
                == (AdminCommand.RING_WRITE_ONLY | AdminCommand.RING_READ_ONLY);
        if (oneWay || !RingBuffer.plausible(memory, offset, capacity)) {
            return AdminCommand.STATUS_BAD_VALUE;
        }
        int at = id == AdminCommand.ANY_RING ? module.contexts().freeRing() : id;
        if (at < 0) {
            return AdminCommand.STATUS_NO_SPACE;
        }
        if (module.contexts().ring(at) != null) {
            return AdminCommand.STATUS_IN_USE;
        }
        int use = guest.enter();
        try {
            NodeSet nodes = nodes(guest);
            if (nodes == null) {
                return AdminCommand.STATUS_BAD_VALUE;
            }
            ModuleBlock block = module.block();
            long record = block.ring(at);
            block.clearRing(at);
            block.setInt(record + ModuleBlock.RING_STATE, RingState.OPEN.value());
            block.setInt(record + ModuleBlock.RING_FLAGS, flags);
            block.setInt(record + ModuleBlock.RING_CONTEXT, binding.context.number);
            block.setInt(record + ModuleBlock.RING_MEMORY, memory.id);
            block.setLong(record + ModuleBlock.RING_OFFSET, offset);
            block.setLong(record + ModuleBlock.RING_CAPACITY, capacity);
            block.setLong(record + ModuleBlock.RING_KEY, i64(AdminCommand.KEY));
            module.contexts().createRing(binding, at, memory, nodes);
            result = at;
            return AdminCommand.STATUS_OK;
        } catch (GuestMemoryFault f) {
            module.block().clearRing(at);
            return faulted(f);
        } finally {
            guest.exit(use);
        }
    }

    private int destroyRing(Binding binding) {
        Ring ring = module.contexts().ring(i32(AdminCommand.RING));
        if (ring == null || ring.binding != binding) {
            return AdminCommand.STATUS_BAD_RING;
        }
        module.contexts().destroyRing(ring);
        return AdminCommand.STATUS_OK;
    }

    private int u16(int at) {
        return command.get(SHORT, at) & 0xffff;
    }

    private int i32(int at) {
        return command.get(INT, at);
    }

    private long i64(int at) {
        return command.get(LONG, at);
    }
}
