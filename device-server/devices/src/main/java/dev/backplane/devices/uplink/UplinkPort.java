// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.uplink;

import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.fabric.OutputPort;
import dev.backplane.devices.fabric.Packet;
import dev.backplane.devices.fabric.PortState;
import dev.backplane.vfiouser.counter.CounterGroup;

/**
 * A port that is not a guest. Its loop moves frames out of rendezvous memory into a ring, from which the far side takes
 * them when it can; when it cannot the ring is full, frames stay in the port's memory output queue, and the port becomes
 * stuck like any other. The other way the far side fills a second ring, and {@link UplinkIngress} moves frames from there
 * into rendezvous memory; when there is no place the far side has to wait, and with it whoever sends to it.
 */
public final class UplinkPort extends OutputPort {
    /** Bytes of each ring: what is on its way beyond rendezvous memory. */
    private static final int RING_BYTES = 512 * 1024;

    private static final int ETHERNET_HEADER = 14;

    private final UplinkConfig settings;
    private final UplinkCounters counters;
    private final ForwardingDomain domain;
    private final FrameRing outgoing = new FrameRing(RING_BYTES);
    private final UplinkIngress ingress;
    private final GatewayFilter filter;

    private volatile FarSide farSide;
    private volatile boolean adminUp;
    private volatile boolean carrier;

    /** A port of {@code domain}, down, without a far side. */
    public UplinkPort(FabricCore core, ForwardingDomain domain, int index, UplinkConfig config) {
        this(core, domain, index, config, new UplinkCounters());
    }

    @SuppressWarnings("this-escape") // the ingress only keeps the reference
    private UplinkPort(
            FabricCore core, ForwardingDomain domain, int index, UplinkConfig config, UplinkCounters counters) {
        super(core, index, config.name(), config.port(), counters.port, 1);
        this.settings = config;
        this.counters = counters;
        this.domain = domain;
        this.adminUp = config.port().adminUp();
        this.ingress = new UplinkIngress(core, domain, this, new FrameRing(RING_BYTES));
        this.filter = config.gateway() == 0 ? null : new GatewayFilter(config.gateway());
    }

    // ---- for the far side ----

    /** Says who is behind the port; once, before the link comes up for the first time. */
    public void attach(FarSide side) {
        farSide = side;
    }

    /** Frames for the far side, which is its consumer. */
    public FrameRing outgoing() {
        return outgoing;
    }

    /** Frames from the far side, which is its producer, and calls {@link #received} after publishing. */
    public FrameRing incoming() {
        return ingress.ring();
    }

    /** Frames were published in the incoming ring. */
    public void received() {
        ingress.wake();
    }

    /** There is room in the outgoing ring again, for which the port was waiting. */
    public void sent() {
        wake();
    }

    /** The far side has to wait for room in the incoming ring. */
    public void countWait() {
        counters.farSideWaits.increment();
    }

    /**
     * The far side can be reached, or not any more. Before it can, and after it cannot, the caller gives up what is in
     * the outgoing ring ({@link #abandon}).
     */
    public void setCarrier(boolean up) {
        carrier = up;
        updateLink();
    }

    /** Gives up the frames in the outgoing ring. Only the far side's thread. */
    public void abandon() {
        int n = outgoing.discard();
        counters.lost.add(n);
        if (outgoing.release()) {
            wake();
        }
    }

    // ---- for the management side, any thread ----

    public UplinkConfig settings() {
        return settings;
    }

    /** The port's counters. */
    public CounterGroup counterGroup() {
        return counters.group();
    }

    /** Holds the link down, or lets it come up. */
    public void setAdminUp(boolean up) {
        adminUp = up;
        updateLink();
    }

    public boolean adminUp() {
        return adminUp;
    }

    /** Whether the far side can be reached. */
    public boolean carrier() {
        return carrier;
    }

    public boolean linkUp() {
        return state() != PortState.DOWN;
    }

    private void updateLink() {
        boolean changed;
        boolean up;
        synchronized (this) {
            up = adminUp && carrier;
            changed = link(up);
            if (changed && !up) {
                // Whoever was behind it may come back behind another port.
                domain.flush(this);
            }
        }
        if (!changed) {
            return;
        }
        if (up) {
            counters.linkUps.increment();
        }
        // Without the lock: the loops that run now may be anybody's.
        wake();
        ingress.wake();
    }

    // ---- the port's loop ----

    @Override
    protected boolean beginTurn() {
        return true;
    }

    @Override
    protected int offloads() {
        return settings.offloads();
    }

    @Override
    protected Delivery deliver(Packet packet, int lane) {
        Frame f = packet.frame();
        if (f.packetLength() > settings.mtu() + ETHERNET_HEADER) {
            counters.port.rxDroppedTooLong.increment();
            return Delivery.DROPPED;
        }
        int length = packet.length();
        long at = outgoing.reserve(length);
        if (at == FrameRing.NONE) {
            if (outgoing.awaitRoom(length)) {
                return Delivery.BLOCKED;
            }
            at = outgoing.reserve(length);
        }
        packet.rewind();
        packet.moveOut(outgoing.memory(), at + FrameRing.HEADER, length);
        if (filter != null && !filter.goesOut(outgoing.memory(), at + FrameRing.HEADER, length)) {
            counters.port.rxDroppedFiltered.increment();
            return Delivery.DROPPED;
        }
        if (!packet.completed()) {
            describe(f, packet.tagBytes(), at);
        }
        outgoing.commit();
        return Delivery.DONE;
    }

    /** What the far side has to know of a frame whose offloads it takes. */
    private void describe(Frame f, int tag, long at) {
        if ((f.flags & Frame.CHECKSUM_PARTIAL) != 0) {
            outgoing.setChecksum(at, f.flags, f.csumStart + tag, f.csumOffset);
        } else {
            outgoing.setChecksum(at, f.flags, 0, 0);
        }
        if (f.gsoType != Offloads.GSO_NONE) {
            outgoing.setSegmentation(at, f.gsoType, f.gsoSize, f.headerLength + tag);
        }
    }

    @Override
    protected void endTurn() {
        FarSide side = farSide;
        if (outgoing.publish() && side != null) {
            side.framesReady();
        }
    }

    /** Whether a frame in the incoming ring may come in; its destination may be set anew. */
    boolean comesIn(long at, int length) {
        return filter == null || filter.comesIn(ingress.ring().memory(), at + FrameRing.HEADER, length);
    }

    /** Room was made in the incoming ring. */
    void roomAgain() {
        FarSide side = farSide;
        if (side != null) {
            side.roomAgain();
        }
    }

    @Override
    protected int lane(int flowHash) {
        return 0;
    }

    /** Everything: behind it may be any number of stations. */
    @Override
    protected boolean wantsFlooded(long destination, boolean group) {
        return true;
    }
}
