// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.pci.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory behind the areas of a BAR that a client may map: one file of the BAR's size, whose offsets are those of the
 * BAR. It outlives connections, so that a client that comes again maps the same memory, and its size is sealed, so that
 * no client can make an access of ours fail.
 */
final class MappedBar implements AutoCloseable {
    private final FileDescriptor file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    MappedBar(String name, Bar bar) throws NativeException {
        file = MemoryFile.create(name + ".bar" + bar.index(), bar.bytes());
        try {
            memory = MemoryFile.map(file.value(), 0, bar.bytes(), true, arena);
        } catch (NativeException e) {
            file.close();
            throw e;
        }
    }

    int fd() {
        return file.value();
    }

    MemorySegment memory() {
        return memory;
    }

    @Override
    public void close() {
        arena.close();
        file.close();
    }
}
