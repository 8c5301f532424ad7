// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static dev.backplane.vfiouser.client.ClientConnection.INT;
import static dev.backplane.vfiouser.client.ClientConnection.LONG;

import dev.backplane.vfiouser.client.ClientSocket.Header;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
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
    private static final int READABLE = 1;
    private static final int WRITABLE = 2;
    private static final int MAP_BYTES = 32;
    private static final int UNMAP_BYTES = 24;
    private static final int UNMAP_ALL = 2;

    /** Bytes of address and count before the data of DMA_READ and DMA_WRITE. */
    private static final int ACCESS_BYTES = 16;

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
        connection.call(Commands.DMA_MAP, MAP_BYTES, block.fd.value());
        windows.put(iova, new Window(iova, block.memory.asSlice(offset, bytes), writable));
    }

    /** Gives the device memory without a file: each access is a message to this client. */
    public void mapUnshared(long iova, MemorySegment memory, boolean writable) throws IOException {
        request(iova, 0, memory.byteSize(), writable);
        connection.callPlain(Commands.DMA_MAP, MAP_BYTES);
        windows.put(iova, new Window(iova, memory, writable));
    }

    private void request(long iova, long offset, long bytes, boolean writable) {
        MemorySegment o = connection.out(MAP_BYTES);
        o.set(INT, 16, MAP_BYTES);
        o.set(INT, 20, writable ? READABLE | WRITABLE : READABLE);
        o.set(LONG, 24, offset);
        o.set(LONG, 32, iova);
        o.set(LONG, 40, bytes);
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
        unmap(UNMAP_ALL, 0, 0);
        windows.clear();
    }

    private void unmap(int flags, long iova, long bytes) throws IOException {
        MemorySegment o = connection.out(UNMAP_BYTES);
        o.set(INT, 16, UNMAP_BYTES);
        o.set(INT, 20, flags);
        o.set(LONG, 24, iova);
        o.set(LONG, 32, bytes);
        connection.callPlain(Commands.DMA_UNMAP, UNMAP_BYTES);
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
    void answer(ClientSocket socket, int command, int id, boolean wanted) throws IOException {
        messages++;
        MemorySegment in = socket.in();
        int payload = socket.at() + Header.BYTES;
        int bytes = socket.size() - Header.BYTES;
        boolean write = command == Commands.DMA_WRITE;
        int errno;
        long iova = 0;
        long count = 0;
        Window w = null;
        if (!write && command != Commands.DMA_READ) {
            errno = Errno.ENOTSUP;
        } else if (bytes < ACCESS_BYTES) {
            errno = Errno.EINVAL;
        } else {
            iova = in.get(LONG, payload);
            count = in.get(LONG, payload + 8L);
            w = window(iova, count);
            boolean sized = write ? count == bytes - ACCESS_BYTES : bytes == ACCESS_BYTES;
            errno = !sized ? Errno.EINVAL : w == null ? Errno.ENOENT : write && !w.writable ? Errno.EACCES : 0;
        }
        if (errno == 0 && write) {
            MemorySegment.copy(in, payload + (long) ACCESS_BYTES, w.memory, iova - w.iova, count);
        }
        if (wanted) {
            reply(socket, command, id, errno, iova, count, write ? null : w);
        }
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

    private static void reply(ClientSocket socket, int command, int id, int errno, long iova, long count, Window read)
            throws IOException {
        int size = errno != 0 ? Header.BYTES : Header.BYTES + ACCESS_BYTES + (read == null ? 0 : (int) count);
        MemorySegment o = socket.out(size);
        Header.put(
                o,
                id,
                command,
                size,
                errno == 0 ? ClientConnection.REPLY : ClientConnection.REPLY | ClientConnection.ERROR);
        if (errno != 0) {
            o.set(INT, 12, errno);
        } else {
            o.set(LONG, 16, iova);
            o.set(LONG, 24, count);
            if (read != null) {
                MemorySegment.copy(read.memory, iova - read.iova, o, 32, count);
            }
        }
        socket.send(size);
    }

    /** Forgets the windows. Blocks stay their owners'. */
    @Override
    public void close() {
        windows.clear();
    }
}
