// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.Packet;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * The receive side of one queue: promise 6. A frame moves to the guest when receive buffers for all of it are there,
 * and becomes visible as a whole. Used by its port's loop only, inside a use of the guest's memory.
 */
final class ReceiveQueue {
    /** What came of an attempt to move a frame. */
    enum Result {
        MOVED,
        /** Not enough receive buffers: the gate is closed. */
        NO_BUFFER,
        /** More than all buffers of a full ring could take. */
        NEVER_FITS
    }

    private final QueueLink link;
    private final long[] addresses = new long[AggRegisters.MAX_RING_SIZE];
    private final int[] lengths = new int[AggRegisters.MAX_RING_SIZE];

    private Ring ring;
    private int published;
    private int next;
    private int producer;
    private int frames;
    private boolean wantsBuffers;

    ReceiveQueue(QueueLink link) {
        this.link = link;
    }

    QueueLink link() {
        return link;
    }

    /** Starts a turn. Returns whether the queue is active. */
    boolean begin() {
        ring = link.ring();
        if (ring == null) {
            return false;
        }
        try {
            ring.refresh();
            next = link.next();
            published = next;
            frames = 0;
            wantsBuffers = false;
            return look();
        } catch (GuestMemoryFault fault) {
            end(fault);
            return false;
        }
    }

    /** Looks how far the driver has filled the ring; an impossible index stops the queue: then false. */
    private boolean look() {
        producer = ring.producer();
        if (Integer.compareUnsigned(producer - next, ring.size) > 0) {
            stop(QueueRegisters.ERROR_BAD_INDEX);
            return false;
        }
        return true;
    }

    boolean active() {
        return ring != null;
    }

    /** Moves a packet out; the queue is active. A fault of the ring itself stops the queue: then it is not any more. */
    Result move(Packet packet, GuestMemory memory) {
        try {
            return gate(packet, memory);
        } catch (GuestMemoryFault fault) {
            end(fault);
            return Result.NO_BUFFER;
        }
    }

    private Result gate(Packet packet, GuestMemory memory) {
        int bytes = packet.length();
        while (true) {
            int buffers = collect(bytes);
            if (buffers == 0) {
                if (producer - next == ring.size) {
                    return Result.NEVER_FITS;
                }
                int seen = producer;
                if (!look()) {
                    return Result.NO_BUFFER;
                }
                if (producer == seen) {
                    wantsBuffers = true;
                    return Result.NO_BUFFER;
                }
                continue;
            }
            int bad = fill(packet, memory, bytes, buffers);
            if (bad < 0) {
                complete(packet, bytes, buffers);
                frames++;
                return Result.MOVED;
            }
            refuse(bad + 1);
        }
    }

    /** Fetches receive descriptors until their buffers take {@code bytes} bytes; returns how many, 0 if too few. */
    private int collect(int bytes) {
        int n = 0;
        long room = 0;
        while (next + n != producer) {
            long at = (long) ring.place(next + n) * ReceiveDescriptor.BYTES;
            addresses[n] = ring.descriptors.getLong(at + ReceiveDescriptor.ADDRESS);
            int length = (int) ring.descriptors.getLong(at + ReceiveDescriptor.LENGTH);
            lengths[n] = length;
            n++;
            if (Integer.compareUnsigned(length, ReceiveDescriptor.MIN_BUFFER) < 0) {
                return n;
            }
            room += Integer.toUnsignedLong(length);
            if (room >= bytes) {
                return n;
            }
        }
        return 0;
    }

    /** Moves the data into the buffers; returns the first one that is bad, or -1. */
    private int fill(Packet packet, GuestMemory memory, int bytes, int buffers) {
        packet.rewind();
        int left = bytes;
        for (int i = 0; i < buffers; i++) {
            if (Integer.compareUnsigned(lengths[i], ReceiveDescriptor.MIN_BUFFER) < 0) {
                return i;
            }
            int n = Integer.compareUnsigned(lengths[i], left) < 0 ? lengths[i] : left;
            try {
                packet.moveOut(memory, addresses[i], n);
            } catch (GuestMemoryFault fault) {
                GuestMemoryFault.Reason reason = fault.reason();
                if (reason == GuestMemoryFault.Reason.BROKEN
                        || reason == GuestMemoryFault.Reason.INTERRUPTED
                        || reason == GuestMemoryFault.Reason.WOULD_WAIT) {
                    throw fault;
                }
                return i;
            }
            lengths[i] = n;
            left -= n;
        }
        return -1;
    }

    private void complete(Packet packet, int bytes, int buffers) {
        for (int i = 0; i < buffers; i++) {
            ReceiveWords.write(ring.completions, ring.place(next + i), packet, lengths[i], bytes, i, buffers);
        }
        next += buffers;
    }

    /** Gives buffers back that hold nothing, because the last of them is bad. */
    private void refuse(int buffers) {
        for (int i = 0; i < buffers; i++) {
            ReceiveWords.writeBad(ring.completions, ring.place(next + i));
        }
        next += buffers;
        link.device().count().rxErrors.increment();
    }

    /** Ends a turn: what was moved becomes visible. Returns whether buffers came that the gate had not seen. */
    boolean finish() {
        if (ring == null) {
            return false;
        }
        try {
            if (next != published) {
                link.completed(ring, published, next, frames);
            }
            return wantsBuffers && ring.wantDoorbell(producer);
        } catch (GuestMemoryFault fault) {
            end(fault);
            return false;
        } finally {
            ring = null;
        }
    }

    private void end(GuestMemoryFault fault) {
        if (fault.reason() == GuestMemoryFault.Reason.WOULD_WAIT) {
            link.device().queues().goSlow();
            link.device().port().wake(); // another turn, on the lane
        } else {
            link.stop(fault);
        }
        ring = null;
    }

    private void stop(int code) {
        link.next(next);
        link.stop(code);
        ring = null;
    }
}
