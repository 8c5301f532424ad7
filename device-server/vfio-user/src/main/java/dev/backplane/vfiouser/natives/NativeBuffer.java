// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.lang.foreign.MemorySegment;

/**
 * Zeroed memory outside the heap for a buffer of one thread. Freeing it is cheap, unlike the closing of a shared arena,
 * and happens at once, unlike that of an automatic one; in turn nothing checks that no access comes afterwards, so it
 * stays inside the class that owns it.
 */
public final class NativeBuffer implements AutoCloseable {
    private final MemorySegment segment;
    private boolean freed;

    private NativeBuffer(MemorySegment segment) {
        this.segment = segment;
    }

    /** Takes {@code bytes} bytes. Large ones cost nothing until they are touched. */
    @SuppressWarnings("restricted")
    public static NativeBuffer allocate(int bytes) {
        long address = Libc.calloc(bytes);
        if (address == 0) {
            throw new OutOfMemoryError("no " + bytes + " bytes outside the heap");
        }
        return new NativeBuffer(MemorySegment.ofAddress(address).reinterpret(bytes));
    }

    /** The memory. Not to be touched after {@link #close}. */
    public MemorySegment segment() {
        return segment;
    }

    public long address() {
        return segment.address();
    }

    public int bytes() {
        return (int) segment.byteSize();
    }

    @Override
    public void close() {
        if (!freed) {
            freed = true;
            Libc.free(segment.address());
        }
    }
}
