// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Rendezvous memory as a file in memory: outside of the heap, and without cost until frames touch it. */
final class RendezvousFile implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment segment;

    private RendezvousFile(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /** Allocates {@code bytes}, zeroed. */
    static RendezvousFile allocate(long bytes) throws StartException {
        Arena arena = Arena.ofShared();
        try (FileDescriptor fd = MemoryFile.create("backplane rendezvous memory", bytes)) {
            return new RendezvousFile(arena, MemoryFile.map(fd.value(), 0, bytes, true, arena));
        } catch (NativeException e) {
            arena.close();
            throw new StartException(
                    "cannot allocate rendezvous memory of " + bytes + " bytes (" + e.getMessage()
                            + "): choose a smaller fabric.rendezvous_memory",
                    e);
        }
    }

    /** The memory; any thread may use it until it is closed. */
    MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        arena.close();
    }
}
