// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A fixed range of guest memory that is used again and again, such as a descriptor ring: the lookup is done once and
 * repeated only after windows have changed. All offsets are relative to the range and checked against its size.
 *
 * <p>Confined to one thread at a time, inside a use of the memory ({@link GuestMemory#enter}); {@link #refresh} comes
 * first in each use. Scalars are naturally aligned, little-endian.
 */
public final class GuestRange {
    private final GuestMemory memory;
    private final long iova;
    private final long bytes;

    private WindowTable seen;
    private MemorySegment segment;
    private long base;
    private MemorySegment bounce;

    /** The range {@code iova}, {@code bytes}; nothing is checked before {@link #refresh}. */
    public GuestRange(GuestMemory memory, long iova, long bytes) {
        this.memory = memory;
        this.iova = iova;
        this.bytes = bytes;
    }

    public long iova() {
        return iova;
    }

    public long bytes() {
        return bytes;
    }

    /** Looks the range up again if windows have changed. Throws {@link GuestMemoryFault} when it is not in one window. */
    public void refresh() {
        WindowTable now = memory.table();
        if (now == seen) {
            return;
        }
        seen = null;
        Window w = memory.require(iova, true);
        long in = iova - w.start();
        if (bytes < 0 || bytes > w.bytes() - in) {
            throw memory.refuse(iova, Reason.NOT_MAPPED);
        }
        segment = w.segment();
        base = segment == null ? 0 : RawAccess.base(segment) + in;
        if (segment == null && bounce == null) {
            memory.requireReachable(iova);
            bounce = Arena.ofAuto().allocate(8, 8);
        }
        seen = now;
    }

    public int getUnsignedShort(long offset) {
        check(offset, 2);
        if (segment == null) {
            return fetch(offset, 2).get(GuestMemory.SHORT, 0) & 0xffff;
        }
        try {
            return RawAccess.view(segment).get(GuestMemory.SHORT, base + offset) & 0xffff;
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
    }

    public int getInt(long offset) {
        check(offset, 4);
        if (segment == null) {
            return fetch(offset, 4).get(GuestMemory.INT, 0);
        }
        try {
            return RawAccess.view(segment).get(GuestMemory.INT, base + offset);
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
    }

    public long getLong(long offset) {
        check(offset, 8);
        if (segment == null) {
            return fetch(offset, 8).get(GuestMemory.LONG, 0);
        }
        try {
            return RawAccess.view(segment).get(GuestMemory.LONG, base + offset);
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
    }

    /** Reads an index: what its writer stored before it is visible afterwards. */
    public int getIntAcquire(long offset) {
        check(offset, 4);
        if (segment == null) {
            return fetch(offset, 4).get(GuestMemory.INT, 0);
        }
        try {
            return (int) Holder.INT.getAcquire(RawAccess.view(segment), base + offset);
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
    }

    /** Reads a position: what its writer stored before it is visible afterwards. */
    public long getLongAcquire(long offset) {
        check(offset, 8);
        if (segment == null) {
            return fetch(offset, 8).get(GuestMemory.LONG, 0);
        }
        try {
            return (long) Holder.LONG.getAcquire(RawAccess.view(segment), base + offset);
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
    }

    public void setShort(long offset, int value) {
        check(offset, 2);
        try {
            if (segment != null) {
                RawAccess.view(segment).set(GuestMemory.SHORT, base + offset, (short) value);
                memory.written(iova + offset, 2);
                return;
            }
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
        bounce.set(GuestMemory.SHORT, 0, (short) value);
        store(offset, 2);
    }

    public void setInt(long offset, int value) {
        check(offset, 4);
        try {
            if (segment != null) {
                RawAccess.view(segment).set(GuestMemory.INT, base + offset, value);
                memory.written(iova + offset, 4);
                return;
            }
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
        bounce.set(GuestMemory.INT, 0, value);
        store(offset, 4);
    }

    public void setLong(long offset, long value) {
        check(offset, 8);
        try {
            if (segment != null) {
                RawAccess.view(segment).set(GuestMemory.LONG, base + offset, value);
                memory.written(iova + offset, 8);
                return;
            }
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
        bounce.set(GuestMemory.LONG, 0, value);
        store(offset, 8);
    }

    /** Publishes an index: what was stored before it is visible to whoever reads it with acquire. */
    public void setIntRelease(long offset, int value) {
        check(offset, 4);
        try {
            if (segment != null) {
                Holder.INT.setRelease(RawAccess.view(segment), base + offset, value);
                memory.written(iova + offset, 4);
                return;
            }
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
        bounce.set(GuestMemory.INT, 0, value);
        store(offset, 4);
    }

    /** Publishes a position: what was stored before it is visible to whoever reads it with acquire. */
    public void setLongRelease(long offset, long value) {
        check(offset, 8);
        try {
            if (segment != null) {
                Holder.LONG.setRelease(RawAccess.view(segment), base + offset, value);
                memory.written(iova + offset, 8);
                return;
            }
        } catch (InternalError e) {
            throw memory.broken(iova + offset);
        }
        bounce.set(GuestMemory.LONG, 0, value);
        store(offset, 8);
    }

    private void check(long offset, int width) {
        if (offset < 0 || offset > bytes - width) {
            throw memory.refuse(iova + offset, Reason.NOT_MAPPED);
        }
        if (((iova + offset) & (width - 1)) != 0) {
            throw memory.refuse(iova + offset, Reason.MISALIGNED);
        }
    }

    private MemorySegment fetch(long offset, int width) {
        memory.requireTransport(iova).read(iova + offset, bounce, 0, width);
        return bounce;
    }

    private void store(long offset, int width) {
        memory.requireTransport(iova).write(iova + offset, bounce, 0, width);
        memory.written(iova + offset, width);
    }

    /** Handles with access modes. A window's own alignment is unknown, so the layouts demand only what check() proved. */
    private static final class Holder {
        static final VarHandle INT = GuestMemory.INT.varHandle();
        static final VarHandle LONG = GuestMemory.LONG.varHandle();

        private Holder() {}
    }
}
