// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Access to scattered guest memory, such as the pages of a user's buffer: by address, remembering the window of the
 * latest access. For a range that stays where it is, {@link GuestRange} is simpler.
 *
 * <p>Confined to one thread at a time, inside a use of the memory ({@link GuestMemory#enter}); {@link #use} comes first
 * in each use. Scalars are naturally aligned and little-endian. All methods throw {@link GuestMemoryFault}.
 */
public final class GuestCursor {
    private static final VarHandle INT = GuestMemory.INT.varHandle();
    private static final VarHandle LONG = GuestMemory.LONG.varHandle();
    private static final int BOUNCE_BYTES = 4096;

    private GuestMemory memory;
    private WindowTable seen;
    private Window window;
    private DirtyLog log;
    private MemorySegment bounce;

    /**
     * Turns to {@code now}, which is in use. Forgets the window if that is another memory, or windows have changed since
     * the last use; a window found in this use stays until its end.
     */
    public void use(GuestMemory now) {
        WindowTable table = now.table();
        // Who starts to log waits for the uses that have not seen it.
        log = now.dirtyLog();
        if (table != seen || now != memory) {
            memory = now;
            seen = table;
            window = null;
        }
    }

    /** The memory of the latest {@link #use}. */
    public GuestMemory memory() {
        return memory;
    }

    public int getInt(long iova) {
        Window w = scalar(iova, 4, false);
        if (w.segment() == null) {
            return fetch(iova, 4).get(GuestMemory.INT, 0);
        }
        try {
            return w.view().get(GuestMemory.INT, w.place(iova));
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
    }

    public long getLong(long iova) {
        Window w = scalar(iova, 8, false);
        if (w.segment() == null) {
            return fetch(iova, 8).get(GuestMemory.LONG, 0);
        }
        try {
            return w.view().get(GuestMemory.LONG, w.place(iova));
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
    }

    /** Reads a position: what its writer stored before it is visible afterwards. */
    public long getLongAcquire(long iova) {
        Window w = scalar(iova, 8, false);
        if (w.segment() == null) {
            return fetch(iova, 8).get(GuestMemory.LONG, 0);
        }
        try {
            return (long) LONG.getAcquire(w.view(), w.place(iova));
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
    }

    public void setInt(long iova, int value) {
        Window w = scalar(iova, 4, true);
        if (w.segment() == null) {
            bounce().set(GuestMemory.INT, 0, value);
            store(iova, 4);
            return;
        }
        try {
            w.view().set(GuestMemory.INT, w.place(iova), value);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
        written(iova, 4);
    }

    public void setLong(long iova, long value) {
        Window w = scalar(iova, 8, true);
        if (w.segment() == null) {
            bounce().set(GuestMemory.LONG, 0, value);
            store(iova, 8);
            return;
        }
        try {
            w.view().set(GuestMemory.LONG, w.place(iova), value);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
        written(iova, 8);
    }

    /** Publishes a word: what was stored before it is visible to whoever reads it with acquire. */
    public void setIntRelease(long iova, int value) {
        Window w = scalar(iova, 4, true);
        if (w.segment() == null) {
            bounce().set(GuestMemory.INT, 0, value);
            store(iova, 4);
            return;
        }
        try {
            INT.setRelease(w.view(), w.place(iova), value);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
        written(iova, 4);
    }

    /** Publishes a position: what was stored before it is visible to whoever reads it with acquire. */
    public void setLongRelease(long iova, long value) {
        Window w = scalar(iova, 8, true);
        if (w.segment() == null) {
            bounce().set(GuestMemory.LONG, 0, value);
            store(iova, 8);
            return;
        }
        try {
            LONG.setRelease(w.view(), w.place(iova), value);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
        written(iova, 8);
    }

    /** Copies from the guest; the range may span windows. */
    public void read(long iova, MemorySegment to, long offset, long bytes) {
        Window w = window(iova, false);
        if (w.segment() == null || bytes > w.bytes() - (iova - w.start())) {
            memory.read(iova, to, offset, bytes);
            return;
        }
        try {
            MemorySegment.copy(w.view(), w.place(iova), to, offset, bytes);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
    }

    /** Copies to the guest; the range may span windows. */
    public void write(long iova, MemorySegment from, long offset, long bytes) {
        Window w = window(iova, true);
        if (w.segment() == null || bytes > w.bytes() - (iova - w.start())) {
            memory.write(iova, from, offset, bytes);
            return;
        }
        try {
            MemorySegment.copy(from, offset, w.view(), w.place(iova), bytes);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
        written(iova, bytes);
    }

    /**
     * Copies {@code bytes} bytes at {@code sourceIova} of another guest, whose memory is in use too, to {@code iova} of
     * this one. When a file turns out truncated, the memory that it belongs to is the one that breaks.
     */
    public void copyFrom(long iova, GuestCursor source, long sourceIova, long bytes) {
        long done = 0;
        while (done < bytes) {
            long from = sourceIova + done;
            long to = iova + done;
            Window s = source.window(from, false);
            Window t = window(to, true);
            long n = Math.min(bytes - done, s.bytes() - (from - s.start()));
            n = Math.min(n, t.bytes() - (to - t.start()));
            if (s.segment() == null) {
                n = Math.min(n, BOUNCE_BYTES);
                source.memory.read(from, source.bounce(), 0, n);
                memory.write(to, source.bounce(), 0, n);
            } else if (t.segment() == null) {
                memory.write(to, s.view(), s.place(from), n);
            } else {
                try {
                    MemorySegment.copy(s.view(), s.place(from), t.view(), t.place(to), n);
                } catch (InternalError e) {
                    source.probe(s, from, n);
                    throw memory.broken(to);
                }
                written(to, n);
            }
            done += n;
        }
    }

    private void written(long iova, long bytes) {
        if (log != null) {
            log.mark(iova, bytes);
        }
    }

    /** Touches each page of the range, so that the guest whose file was truncated is found and no other blamed. */
    private void probe(Window w, long iova, long bytes) {
        try {
            for (long at = 0; at < bytes; at += BOUNCE_BYTES) {
                w.view().get(ValueLayout.JAVA_BYTE, w.place(iova) + at);
            }
            w.view().get(ValueLayout.JAVA_BYTE, w.place(iova) + bytes - 1);
        } catch (InternalError e) {
            throw memory.broken(iova);
        }
    }

    private Window window(long iova, boolean write) {
        Window w = window;
        if (w == null || Long.compareUnsigned(iova - w.start(), w.bytes()) >= 0) {
            w = memory.require(iova, write);
            window = w;
        }
        if (write && !w.writable()) {
            throw memory.refuse(iova, Reason.READ_ONLY);
        }
        return w;
    }

    private Window scalar(long iova, int width, boolean write) {
        if ((iova & (width - 1)) != 0) {
            throw memory.refuse(iova, Reason.MISALIGNED);
        }
        Window w = window(iova, write);
        if (width > w.bytes() - (iova - w.start())) {
            throw memory.refuse(iova, Reason.NOT_MAPPED);
        }
        return w;
    }

    private MemorySegment bounce() {
        if (bounce == null) {
            bounce = Arena.ofAuto().allocate(BOUNCE_BYTES, 8);
        }
        return bounce;
    }

    private MemorySegment fetch(long iova, int width) {
        memory.requireTransport(iova).read(iova, bounce(), 0, width);
        return bounce;
    }

    private void store(long iova, int width) {
        memory.requireTransport(iova).write(iova, bounce, 0, width);
        written(iova, width);
    }
}
