// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.foreign.MemorySegment;

/**
 * A place in a frame in rendezvous memory, which goes from cell to cell: both data moves go through here. The number of
 * bytes moved never exceeds what the frame has; that is the caller's part. One instance per loop.
 */
public final class FrameCursor {
    private final RendezvousMemory memory;
    private int cell;
    private int at;

    public FrameCursor(RendezvousMemory memory) {
        this.memory = memory;
    }

    /** Goes to the frame's first byte. */
    public void start(Frame frame) {
        cell = frame.cell;
        at = frame.offset;
    }

    /** Goes {@code bytes} bytes on. */
    void skip(int bytes) {
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            at += n;
            done += n;
        }
    }

    /** Goes {@code bytes} bytes on, and returns their {@linkplain InternetChecksum sum}. */
    int sum(int bytes) {
        long sum = 0;
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            int part = InternetChecksum.sum(memory.segment(), memory.cellOffset(cell) + at, n);
            sum += (done & 1) == 0 ? part : InternetChecksum.swap(part);
            at += n;
            done += n;
        }
        return InternetChecksum.fold(sum);
    }

    /** Moves {@code bytes} bytes in, from a guest's memory. */
    public void moveIn(GuestMemory from, long iova, int bytes) {
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            from.read(iova + done, memory.segment(), memory.cellOffset(cell) + at, n);
            at += n;
            done += n;
        }
    }

    /** Moves {@code bytes} bytes in, from the server's own memory. */
    public void moveIn(MemorySegment from, long offset, int bytes) {
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            MemorySegment.copy(from, offset + done, memory.segment(), memory.cellOffset(cell) + at, n);
            at += n;
            done += n;
        }
    }

    /** Moves {@code bytes} bytes out, to a guest's memory. */
    public void moveOut(GuestMemory to, long iova, int bytes) {
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            to.write(iova + done, memory.segment(), memory.cellOffset(cell) + at, n);
            at += n;
            done += n;
        }
    }

    /** Moves {@code bytes} bytes out, to the server's own memory. */
    public void moveOut(MemorySegment to, long offset, int bytes) {
        int done = 0;
        while (done < bytes) {
            int n = piece(bytes - done);
            MemorySegment.copy(memory.segment(), memory.cellOffset(cell) + at, to, offset + done, n);
            at += n;
            done += n;
        }
    }

    /** Bytes in one piece from here, {@code wanted} at most; goes on to the next cell at the end of one. */
    private int piece(int wanted) {
        if (at == memory.cellBytes()) {
            cell = memory.nextCell(cell);
            at = 0;
        }
        return Math.min(wanted, memory.cellBytes() - at);
    }
}
