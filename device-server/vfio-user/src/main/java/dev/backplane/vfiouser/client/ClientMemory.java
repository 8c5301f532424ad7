// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DmaMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * Memory that the client owns and lets the device use. A {@link Block} is shared memory, mapped on both sides; a window
 * without a file is reached by messages, which are answered whenever the client is in a call or serves.
 */
public final class ClientMemory implements AutoCloseable {
    private static final int MAP = DmaMessages.MAP.size();
    private static final int UNMAP = DmaMessages.UNMAP.size();

    /** Shared memory. Closing frees it; unmap its windows first. */
    public static final class Block implements AutoCloseable {
        private final FileDescriptor fd;
        private final Arena arena;
        private final MemorySegment memory;

        private Block(FileDescriptor fd, Arena arena, MemorySegment memory) {
            this.fd = fd;
            this.arena = arena;
            this.memory = memory;
        }

        /** The memory; any thread may use it. */
        public MemorySegment memory() {
            return memory;
        }

        /** The file behind it. */
        public FileDescriptor fd() {
            return fd;
        }

        @Override
        public void close() {
            fd.close();
            arena.close();
        }
    }

    /** Memory as the device addresses it. */
    private record Window(long iova, MemorySegment memory, boolean writable) {}

    private final ClientConnection connection;
    private final TreeMap<Long, Window> windows = new TreeMap<>(Long::compareUnsigned);
    private long messages;

    ClientMemory(ClientConnection connection) {
        this.connection = connection;
    }

    /** New shared memory, zeroed; a whole number of pages. */
    public static Block allocate(long bytes) throws IOException {
        FileDescriptor fd = MemoryFile.create("vfio-user-client", bytes);
        Arena arena = Arena.ofShared();
        try {
            return new Block(fd, arena, MemoryFile.map(fd.value(), 0, bytes, true, arena));
        } catch (IOException e) {
            arena.close();
            fd.close();
            throw e;
        }
    }

    /** Gives the device all of a block at {@code iova}, for reading and writing. */
    public void map(long iova, Block block) throws IOException {
        map(iova, block, 0, block.memory.byteSize(), true);
    }

    /**
     * Gives the device a part of a block.
     *
     * @param offset bytes from the block's start, a multiple of the page size
     * @throws ServerErrorException when the server refuses, with EEXIST when it overlaps another window
     */
    public void map(long iova, Block block, long offset, long bytes, boolean writable) throws IOException {
        request(iova, offset, bytes, writable);
        connection.call(Command.DMA_MAP, MAP, new int[] {block.fd.value()});
        windows.put(iova, new Window(iova, block.memory.asSlice(offset, bytes), writable));
    }

    /** Gives the device memory without a file: each access is a message to this client. */
    public void mapUnshared(long iova, MemorySegment memory, boolean writable) throws IOException {
        request(iova, 0, memory.byteSize(), writable);
        connection.call(Command.DMA_MAP, MAP);
        windows.put(iova, new Window(iova, memory, writable));
    }

    private void request(long iova, long offset, long bytes, boolean writable) {
        MemorySegment o = connection.begin(MAP);
        o.set(Wire.U32, Header.BYTES + DmaMessages.MAP_ARGSZ, MAP);
        o.set(
                Wire.U32,
                Header.BYTES + DmaMessages.MAP_FLAGS,
                writable ? DmaMessages.MAP_READ | DmaMessages.MAP_WRITE : DmaMessages.MAP_READ);
        o.set(Wire.U64, Header.BYTES + DmaMessages.MAP_OFFSET, offset);
        o.set(Wire.U64, Header.BYTES + DmaMessages.MAP_ADDRESS, iova);
        o.set(Wire.U64, Header.BYTES + DmaMessages.MAP_SIZE, bytes);
    }

    /** Takes a window back. When this returns, the device can no longer touch it. */
    public void unmap(long iova) throws IOException {
        Window w = windows.get(iova);
        if (w == null) {
            throw new IllegalArgumentException("no window starts at 0x" + Long.toHexString(iova));
        }
        unmap(0, iova, w.memory.byteSize());
        windows.remove(iova);
    }

    /** Takes all windows back. */
    public void unmapAll() throws IOException {
        unmap(DmaMessages.UNMAP_ALL, 0, 0);
        windows.clear();
    }

    private void unmap(int flags, long iova, long bytes) throws IOException {
        MemorySegment o = connection.begin(UNMAP);
        o.set(Wire.U32, Header.BYTES + DmaMessages.UNMAP_ARGSZ, UNMAP);
        o.set(Wire.U32, Header.BYTES + DmaMessages.UNMAP_FLAGS, flags);
        o.set(Wire.U64, Header.BYTES + DmaMessages.UNMAP_ADDRESS, iova);
        o.set(Wire.U64, Header.BYTES + DmaMessages.UNMAP_SIZE, bytes);
        connection.call(Command.DMA_UNMAP, UNMAP);
    }

    /** Number of windows. */
    public int windows() {
        return windows.size();
    }

    /** Number of accesses by message that were answered, well or with an error. */
    public long messages() {
        return messages;
    }

    /** The server's commands. */
    void answer(Channel from) throws IOException {
        messages++;
        MessageReader in = from.in();
        int error = check(in);
        boolean read = in.command() == Command.DMA_READ;
        int bytes = error != 0 ? 0 : DmaMessages.ACCESS.size();
        if (error == 0) {
            long iova = in.u64(DmaMessages.ACCESS_ADDRESS);
            long count = in.u64(DmaMessages.ACCESS_COUNT);
            Window w = window(iova, count);
            MemorySegment o = from.out().begin(bytes + (read ? (int) count : 0));
            o.set(Wire.U64, Header.BYTES + DmaMessages.ACCESS_ADDRESS, iova);
            o.set(Wire.U64, Header.BYTES + DmaMessages.ACCESS_COUNT, count);
            if (read) {
                MemorySegment.copy(w.memory, iova - w.iova, o, Header.BYTES + (long) DmaMessages.ACCESS_DATA, count);
                bytes += (int) count;
            } else {
                long data = in.bodyStart() + (long) DmaMessages.ACCESS_DATA;
                MemorySegment.copy(in.memory(), data, w.memory, iova - w.iova, count);
            }
        }
        if ((in.flags() & Header.NO_REPLY) == 0) {
            int flags = error == 0 ? Header.TYPE_REPLY : Header.TYPE_REPLY | Header.ERROR_FLAG;
            from.out().send(in.id(), in.command(), flags, error, bytes);
        }
    }

    /** Whether the command can be carried out: 0, or the error number of the reply. */
    private int check(MessageReader in) {
        boolean write = in.command() == Command.DMA_WRITE;
        if (!write && in.command() != Command.DMA_READ) {
            return Errno.ENOTSUP;
        }
        int data = in.bodyBytes() - DmaMessages.ACCESS.size();
        if (data < 0) {
            return Errno.EINVAL;
        }
        long count = in.u64(DmaMessages.ACCESS_COUNT);
        if (write ? count != data : data != 0 || count > Limits.MAX_DATA_XFER_SIZE) {
            return Errno.EINVAL;
        }
        Window w = window(in.u64(DmaMessages.ACCESS_ADDRESS), count);
        if (w == null) {
            return Errno.ENOENT;
        }
        return write && !w.writable ? Errno.EACCES : 0;
    }

    /** The window that holds all of the range, or null. */
    private Window window(long iova, long count) {
        Map.Entry<Long, Window> e = windows.floorEntry(iova);
        if (e == null) {
            return null;
        }
        long in = iova - e.getValue().iova;
        long left = e.getValue().memory.byteSize() - in;
        return in >= 0 && left >= 0 && count >= 0 && count <= left ? e.getValue() : null;
    }

    /** Forgets the windows. Blocks stay their owners'. */
    @Override
    public void close() {
        windows.clear();
    }
}
