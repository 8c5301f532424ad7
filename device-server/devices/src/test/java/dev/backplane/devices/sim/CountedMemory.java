// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.sim;

import dev.backplane.vfiouser.memory.DmaTransport;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.MapRefusedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Guest memory of which every byte that the device moves is counted. It lies in a window without a file, so that there is
 * no way to it but through here. One thread at a time.
 */
public final class CountedMemory implements DmaTransport {
    /** Far above any {@link SimulatedGuest}'s memory. */
    public static final long BASE = 0x10_0000_0000L;

    private final MemorySegment bytes;
    private long allocated;
    private long bytesRead;
    private long bytesWritten;

    /** Gives the guest this memory as well. */
    public CountedMemory(SimulatedGuest guest, long size) {
        bytes = Arena.ofAuto().allocate(size, 64);
        GuestMemory memory = guest.memory();
        memory.transport(this);
        try {
            memory.map(BASE, size, null, true, () -> {});
        } catch (MapRefusedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Takes memory, aligned to 64 bytes; returns the guest address. */
    public long allocate(long size) {
        long at = allocated;
        allocated += (size + 63) / 64 * 64;
        bytes.asSlice(at, size);
        return BASE + at;
    }

    /** The memory behind an address. */
    public MemorySegment at(long address, long size) {
        return bytes.asSlice(address - BASE, size);
    }

    /** Bytes that the device has fetched. */
    public long bytesRead() {
        return bytesRead;
    }

    /** Bytes that the device has stored. */
    public long bytesWritten() {
        return bytesWritten;
    }

    @Override
    public void read(long iova, MemorySegment to, long offset, long count) {
        bytesRead += count;
        MemorySegment.copy(bytes, iova - BASE, to, offset, count);
    }

    @Override
    public void write(long iova, MemorySegment from, long offset, long count) {
        bytesWritten += count;
        MemorySegment.copy(from, offset, bytes, iova - BASE, count);
    }
}
