// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.FrameCursor;
import dev.backplane.devices.fabric.Ingress;
import dev.backplane.devices.fabric.OutputPort;
import dev.backplane.devices.loop.DrainLoop;
import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * The transmit side of one queue: promises 2 to 5. For each frame it fetches the first transmit descriptors from guest
 * memory, decides that the data is ready and allocates a place in rendezvous memory, moves the data, and hands the
 * frame to the fabric, which stores the second descriptor. Only then the sender's descriptors complete.
 */
final class TransmitQueue extends DrainLoop {
    /** Frames, and bytes, of a turn. */
    private static final int FRAMES = 64;

    private static final int BYTES = 256 * 1024;
    /** When bus mastering is off nobody will announce that it is on again: look as often as this. */
    static final long RETRY_NANOS = 10_000_000;

    /** What {@link #send} gives when the frame has to wait. */
    private static final int WAITS = -1;

    private final QueueLink link;
    private final Ingress ingress;
    private final TransmitFetch fetch;
    private final FrameCursor cursor;
    private final Frame frame = new Frame();
    private final Timers.Timer retry;

    /** The activation that the loop's own state belongs to. */
    private Ring current;

    /** The frame waits for a thread that may wait for the guest. */
    private boolean slowed;

    TransmitQueue(QueueLink link, FabricCore core, ForwardingDomain domain, OutputPort port) {
        super(link.device().workers());
        this.link = link;
        this.fetch = new TransmitFetch(link.device());
        this.cursor = new FrameCursor(core.memory());
        this.ingress =
                new Ingress(core, port, domain, this, link.device().node().mac().bits());
        this.retry = link.device().timers().timer(this::wakeLater);
        frame.sourceNode = link.device().node().id();
    }

    QueueLink link() {
        return link;
    }

    @Override
    protected boolean turn() {
        Ring r = link.ring();
        if (r != current) {
            // What the former activation waited for, or was granted, goes back.
            ingress.cancel();
            current = r;
        }
        DeviceLink guest = link.guest();
        if (r == null || guest == null || !ingress.ready()) {
            return false;
        }
        int token = guest.memory().enter();
        try {
            if (link.ring() != r) {
                return true;
            }
            if (!guest.busMaster()) {
                link.device().count().notBusMaster.increment();
                retry.arm(link.device().timers().now() + RETRY_NANOS);
                return false;
            }
            r.refresh();
            return moveIn(r, guest.memory());
        } catch (GuestMemoryFault fault) {
            if (fault.reason() == GuestMemoryFault.Reason.WOULD_WAIT) {
                link.device().queues().goSlow();
                return true; // on the lane
            }
            link.stop(fault);
            return true; // once more, to give back what the ring's end leaves over
        } finally {
            guest.memory().exit(token);
            ingress.endTurn();
        }
    }

    private boolean moveIn(Ring r, GuestMemory memory) {
        int start = link.next();
        int next = start;
        int frames = 0;
        int bytes = 0;
        boolean waits = false;
        slowed = false;
        int producer = r.producer();
        if (Integer.compareUnsigned(producer - next, r.size) > 0) {
            link.stop(QueueRegisters.ERROR_BAD_INDEX);
            return true;
        }
        while (next != producer && frames < FRAMES && bytes < BYTES) {
            int descriptors = fetch.fetch(r, link, next, producer);
            if (descriptors == 0) {
                break; // the rest of the frame is not there yet: its data is not ready
            }
            int status = fetch.status();
            if (status == TransmitCompletion.OK) {
                status = send(memory, producer - next - descriptors);
                if (status == WAITS) {
                    waits = true;
                    break;
                }
            }
            count(status);
            complete(r, next, descriptors, status);
            next += descriptors;
            bytes += fetch.length();
            frames++;
        }
        if (next != start) {
            link.completed(r, start, next, frames);
        }
        if (waits) {
            return slowed; // else woken by the fabric; a doorbell would not help
        }
        if (next != producer && (frames == FRAMES || bytes >= BYTES)) {
            return true;
        }
        return r.wantDoorbell(producer);
    }

    /** Moves a frame that is ready; returns the status for its descriptors, or {@link #WAITS}. */
    private int send(GuestMemory memory, int pending) {
        if (!link.device().linkUp()) {
            return TransmitCompletion.LINK_DOWN;
        }
        if (!ingress.allocate(frame, fetch.length(), pending)) {
            return WAITS;
        }
        fetch.describe(frame);
        cursor.start(frame);
        try {
            fetch.moveIn(memory, cursor);
        } catch (GuestMemoryFault fault) {
            ingress.release(frame);
            if (fault.reason() == GuestMemoryFault.Reason.WOULD_WAIT) {
                link.device().queues().goSlow();
                slowed = true;
                return WAITS;
            }
            if (fault.reason() == GuestMemoryFault.Reason.BROKEN
                    || fault.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
                throw fault;
            }
            return TransmitCompletion.BAD_ADDRESS;
        }
        return switch (ingress.forward(frame, fetch.tagged())) {
            case FORWARDED -> TransmitCompletion.OK;
            case WAIT -> WAITS;
            case REFUSED -> TransmitCompletion.DROPPED;
            case BAD_OFFLOAD -> TransmitCompletion.BAD_OFFLOAD;
        };
    }

    private void count(int status) {
        switch (status) {
            case TransmitCompletion.OK -> ingress.accepted(fetch.length());
            case TransmitCompletion.DROPPED -> {} // by the fabric, which has counted it
            case TransmitCompletion.LINK_DOWN ->
                link.device().count().port.txDropped.increment();
            default -> ingress.bad();
        }
    }

    private static void complete(Ring r, int next, int descriptors, int status) {
        for (int i = 0; i < descriptors; i++) {
            r.completions.setLong((long) r.place(next + i) * TransmitCompletion.BYTES, status);
        }
    }

    @Override
    public String toString() {
        return link.toString();
    }
}
