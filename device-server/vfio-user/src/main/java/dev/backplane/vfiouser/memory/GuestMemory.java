// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import dev.backplane.vfiouser.quiescence.Readers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A guest's memory: the windows that its client has mapped, and all access to them. Every range that a guest or client
 * supplies passes the checks here; a range may span windows that touch.
 *
 * <p><b>Threads.</b> {@link #map} and {@link #unmap} are called by one thread, the client's. Accesses may come from any
 * thread, between {@link #enter} and {@link #exit}: an unmapping waits until all who entered before it have left, so a
 * use is short and never waits for anything. What was looked up in one use must not be touched after its end.
 *
 * <p>Guest memory has one writer for each word: there is no compare-and-set here (on a truncated file it would kill the
 * JVM), only plain, acquire and release accesses.
 */
public final class GuestMemory {
    /** Most windows a client can have at a time; advertised in the negotiation as {@code max_dma_maps}. */
    public static final int MAX_WINDOWS = 65_535;

    static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN).withByteAlignment(2);
    static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN).withByteAlignment(4);
    static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN).withByteAlignment(8);

    private final CounterGroup counters = new CounterGroup("memory");
    private final Counter faults = counters.counter("memory_faults", "Accesses to guest memory that were refused");
    private final Counter refusedWaits = counters.counter(
            "memory_waits_refused", "Accesses by message that came from a thread which must not wait for a client");
    private final Counter unmapWaits =
            counters.counter("memory_unmap_waits", "Sleeps of an unmapping until running accesses had left");

    private final Readers readers = new Readers();
    private volatile WindowTable table = WindowTable.EMPTY;
    private volatile DmaTransport transport;
    private volatile DirtyLog dirtyLog;
    private volatile boolean broken;
    private volatile long faultAddress;

    /** Counters of refusals and waits. */
    public CounterGroup counters() {
        return counters;
    }

    /** Sets the way to memory without a file, or null for none. */
    public void transport(DmaTransport transport) {
        this.transport = transport;
    }

    /** Number of windows. */
    public int windows() {
        return table.size();
    }

    /** Whether an access found the file behind a window truncated. Nothing but a new client mends that. */
    public boolean broken() {
        return broken;
    }

    /** The address of the latest refused access, for messages. */
    public long faultAddress() {
        return faultAddress;
    }

    /**
     * Adds a window.
     *
     * @param start first guest address
     * @param bytes size
     * @param segment the memory, of that size and accessible from any thread, or null when there is no file
     * @param writable whether the device may write to it
     * @param release called once when the window is gone and nothing can touch the memory any more
     */
    public synchronized void map(long start, long bytes, MemorySegment segment, boolean writable, Runnable release)
            throws MapRefusedException {
        if (bytes <= 0 || Long.compareUnsigned(start + bytes - 1, start) < 0) {
            throw new MapRefusedException(MapRefusedException.Reason.BAD_RANGE, start, bytes);
        }
        if (segment != null && (segment.byteSize() != bytes || !segment.isNative())) {
            throw new IllegalArgumentException("native segment of " + bytes + " bytes expected, not " + segment);
        }
        if (table.size() >= MAX_WINDOWS) {
            throw new MapRefusedException(MapRefusedException.Reason.TOO_MANY, start, bytes);
        }
        if (table.overlaps(start, bytes)) {
            throw new MapRefusedException(MapRefusedException.Reason.OVERLAP, start, bytes);
        }
        table = table.with(new Window(start, bytes, segment, writable, release));
    }

    /** Adds writable memory that nobody has to release. */
    public void map(long start, MemorySegment segment) throws MapRefusedException {
        map(start, segment.byteSize(), segment, true, () -> {});
    }

    /** Whether there is a window of exactly this range. */
    public boolean hasWindow(long start, long bytes) {
        return windowOf(start, bytes) != null;
    }

    private Window windowOf(long start, long bytes) {
        Window w = table.find(start);
        return w == null || w.start() != start || w.bytes() != bytes ? null : w;
    }

    /** Removes the window of exactly this range; returns when nothing can touch its memory any more. */
    public synchronized void unmap(long start, long bytes) throws MapRefusedException {
        Window w = windowOf(start, bytes);
        if (w == null) {
            throw new MapRefusedException(MapRefusedException.Reason.NO_SUCH_WINDOW, start, bytes);
        }
        table = table.without(w);
        awaitReaders();
        w.release().run();
    }

    /** Removes all windows; returns how many when nothing can touch their memory any more. */
    public synchronized int unmapAll() {
        Window[] all = table.toArray();
        table = WindowTable.EMPTY;
        awaitReaders();
        for (Window w : all) {
            w.release().run();
        }
        broken = false;
        return all.length;
    }

    /** Starts a use of the memory; pass the returned token to {@link #exit} in a {@code finally}. */
    public int enter() {
        return readers.enter();
    }

    /** Ends a use. */
    public void exit(int token) {
        readers.exit(token);
    }

    /** Waits until every use that has begun before this call has ended. Never from inside a use. */
    public synchronized void awaitUses() {
        awaitReaders();
    }

    /** Waits for running uses. None of them waits for the client meanwhile, whose answer might have to wait for this. */
    private void awaitReaders() {
        DmaTransport t = transport;
        if (t != null) {
            t.hold();
        }
        try {
            unmapWaits.add(readers.await());
        } finally {
            if (t != null) {
                t.release();
            }
        }
    }

    /** Starts to log which pages are written; when this returns, every write is logged. Does nothing when it is on. */
    public void startDirtyLog() {
        if (dirtyLog == null) {
            dirtyLog = new DirtyLog();
            awaitUses();
        }
    }

    public void stopDirtyLog() {
        dirtyLog = null;
    }

    /** The log of written pages, or null while it is off. */
    public DirtyLog dirtyLog() {
        return dirtyLog;
    }

    /** A write has been made: what {@link #write} does by itself, and {@link GuestRange} for its stores. */
    void written(long iova, long bytes) {
        DirtyLog log = dirtyLog;
        if (log != null) {
            log.mark(iova, bytes);
        }
    }

    /** Whether all of the range is mapped. A length of 0 needs nothing. */
    public boolean readable(long iova, long bytes) {
        return covered(iova, bytes, false, false);
    }

    /** Whether all of the range is mapped and may be written. */
    public boolean writable(long iova, long bytes) {
        return covered(iova, bytes, true, false);
    }

    /**
     * Whether all of the range is mapped, may be written and is shared with the server, so that no access to it takes a
     * message to the client and back.
     */
    public boolean shared(long iova, long bytes) {
        return direct(iova, bytes, true);
    }

    /** Whether all of the range is mapped, may be written if {@code write}, and no access to it takes a message. */
    public boolean direct(long iova, long bytes, boolean write) {
        return covered(iova, bytes, write, true);
    }

    /** Whether memory that is not shared can be accessed by message at all. */
    public boolean byMessage() {
        return transport != null;
    }

    private boolean covered(long iova, long bytes, boolean write, boolean shared) {
        WindowTable t = table;
        if (bytes < 0 || Long.compareUnsigned(iova + Math.max(bytes, 1) - 1, iova) < 0) {
            return false;
        }
        long at = iova;
        long left = bytes;
        while (left > 0) {
            Window w = t.find(at);
            if (w == null || (write && !w.writable()) || (shared && w.segment() == null)) {
                return false;
            }
            long n = Math.min(left, w.bytes() - (at - w.start()));
            at += n;
            left -= n;
        }
        return true;
    }

    /** Copies {@code bytes} bytes from the guest. Throws {@link GuestMemoryFault}; some bytes may be copied then. */
    public void read(long iova, MemorySegment to, long offset, long bytes) {
        long done = 0;
        while (done < bytes) {
            long at = iova + done;
            Window w = require(at, false);
            long n = Math.min(bytes - done, w.bytes() - (at - w.start()));
            if (w.segment() == null) {
                requireTransport(at).read(at, to, offset + done, n);
            } else {
                try {
                    MemorySegment.copy(w.view(), w.place(at), to, offset + done, n);
                } catch (InternalError e) {
                    throw broken(at);
                }
            }
            done += n;
        }
    }

    /** Copies {@code bytes} bytes to the guest. Throws {@link GuestMemoryFault}; some bytes may be copied then. */
    public void write(long iova, MemorySegment from, long offset, long bytes) {
        long done = 0;
        while (done < bytes) {
            long at = iova + done;
            Window w = require(at, true);
            long n = Math.min(bytes - done, w.bytes() - (at - w.start()));
            if (w.segment() == null) {
                requireTransport(at).write(at, from, offset + done, n);
            } else {
                try {
                    MemorySegment.copy(from, offset + done, w.view(), w.place(at), n);
                } catch (InternalError e) {
                    throw broken(at);
                }
            }
            written(at, n);
            done += n;
        }
    }

    /** The window of {@code iova}; throws {@link GuestMemoryFault}. */
    Window require(long iova, boolean write) {
        Window w = table.find(iova);
        if (w == null) {
            throw refuse(iova, Reason.NOT_MAPPED);
        }
        if (write && !w.writable()) {
            throw refuse(iova, Reason.READ_ONLY);
        }
        return w;
    }

    /** Checks that memory without a file can be accessed, by some thread. */
    void requireReachable(long iova) {
        if (transport == null) {
            throw refuse(iova, Reason.NOT_SHARED);
        }
    }

    /** The way to memory without a file, for an access by this thread. */
    DmaTransport requireTransport(long iova) {
        DmaTransport t = transport;
        if (t == null) {
            throw refuse(iova, Reason.NOT_SHARED);
        }
        if (Thread.currentThread() instanceof PromptThread p && !p.mayWaitFor(this)) {
            refusedWaits.increment();
            throw Reason.WOULD_WAIT.fault();
        }
        return t;
    }

    /** The table as of now; a change of identity tells that windows have changed. */
    WindowTable table() {
        return table;
    }

    GuestMemoryFault refuse(long iova, Reason reason) {
        faultAddress = iova;
        faults.increment();
        return reason.fault();
    }

    /** An access met a truncated file: from here on the guest's device is broken, and nobody else's. */
    GuestMemoryFault broken(long iova) {
        broken = true;
        return refuse(iova, Reason.BROKEN);
    }
}
