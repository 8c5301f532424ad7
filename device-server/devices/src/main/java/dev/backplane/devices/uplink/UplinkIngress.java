// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.FrameCursor;
import dev.backplane.devices.fabric.Ingress;
import dev.backplane.devices.loop.DrainLoop;

/** The way of frames from an uplink's far side into the fabric. */
final class UplinkIngress extends DrainLoop {
    /** Frames, and bytes, of a turn. */
    private static final int FRAMES = 64;

    private static final int BYTES = 256 * 1024;

    /** Smallest frame in bytes: an Ethernet header. */
    private static final int MIN_FRAME = 14;

    /** An uplink has no address of its own to check the source against. */
    private static final long NO_ADDRESS = 0;

    private final UplinkPort port;
    private final FrameRing ring;
    private final Ingress ingress;
    private final FrameCursor cursor;
    private final Frame frame = new Frame();

    UplinkIngress(FabricCore core, ForwardingDomain domain, UplinkPort port, FrameRing ring) {
        super(core.workers());
        this.port = port;
        this.ring = ring;
        this.cursor = new FrameCursor(core.memory());
        this.ingress = new Ingress(core, port, domain, this, NO_ADDRESS);
    }

    FrameRing ring() {
        return ring;
    }

    @Override
    protected boolean turn() {
        if (!ingress.ready()) {
            return false;
        }
        boolean more;
        try {
            more = moveIn();
        } finally {
            ingress.endTurn();
        }
        if (ring.release()) {
            port.roomAgain();
        }
        return more;
    }

    private boolean moveIn() {
        int bytes = 0;
        for (int frames = 0; frames < FRAMES && bytes < BYTES; frames++) {
            long at = ring.first();
            if (at == FrameRing.NONE) {
                return false;
            }
            int length = ring.length(at);
            if (!port.linkUp()) {
                port.counters().txDropped.increment();
            } else if (length < MIN_FRAME || length > FabricConfig.MAX_FRAME) {
                ingress.bad();
            } else if (!port.comesIn(at, length)) {
                port.counters().txDropped.increment();
            } else if (!send(at, length)) {
                return false; // woken when there is a place
            }
            ring.remove();
            bytes += length;
        }
        return true;
    }

    /** Moves a frame in; returns false when it has to wait. */
    private boolean send(long at, int length) {
        if (!ingress.allocate(frame, length, 0)) {
            return false;
        }
        frame.clearOffloads();
        frame.flags = ring.flags(at);
        frame.csumStart = ring.csumStart(at);
        frame.csumOffset = ring.csumOffset(at);
        frame.gsoType = ring.gsoType(at);
        frame.gsoSize = ring.gsoSize(at);
        frame.headerLength = ring.headerLength(at);
        cursor.start(frame);
        cursor.moveIn(ring.memory(), at + FrameRing.HEADER, length);
        switch (ingress.forward(frame, false)) {
            case FORWARDED -> ingress.accepted(length);
            case WAIT -> {
                return false;
            }
            case REFUSED -> {} // the fabric has counted it
            case BAD_OFFLOAD -> ingress.bad();
        }
        return true;
    }

    @Override
    public String toString() {
        return "ingress of " + port;
    }
}
