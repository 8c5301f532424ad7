// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.agg.SwitchFabric;
import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.uplink.FarSide;
import dev.backplane.devices.uplink.FrameRing;
import dev.backplane.devices.uplink.UplinkConfig;
import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.natives.TapDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An uplink whose far side is a TAP interface of the host, with a thread of its own. Offloads pass through: the host's
 * stack segments what guests send, and guests get what it has not segmented. The link is up while the host has the
 * interface up; when the port is down the host sees the interface without carrier.
 */
public final class TapUplink implements Uplink, FarSide {
    private static final Logger LOG = LoggerFactory.getLogger(TapUplink.class);

    /** What the host's stack takes as it is, whatever its version; UDP comes on top where it can. */
    private static final int OFFLOADS = Offloads.TAKES_CHECKSUM | Offloads.TAKES_TSO4 | Offloads.TAKES_TSO6;

    /** Frames of each direction before the other has its turn. */
    private static final int FRAMES = 64;
    /** How often to look whether the host has taken the interface up or down, which no event tells. */
    private static final int LOOK_MILLIS = 200;

    private static final int RETRY_MILLIS = 1;

    private final UplinkPort port;
    private final TapDevice tap;
    private final String name;
    private final TapCounters counters = new TapCounters();
    private final EventFd wake;
    private final Thread thread;
    /** A frame from the host is read here, since its length is known only then. */
    private final MemorySegment buffer = Arena.ofAuto().allocate(VirtioNetHeader.BYTES + FabricConfig.MAX_FRAME, 16);

    private volatile boolean closed;
    private volatile boolean up;
    private int pending;
    private boolean blocked;
    private boolean shownCarrier = true;
    private long looked;

    private TapUplink(UplinkPort port, TapDevice tap, String name) throws NativeException {
        this.port = port;
        this.tap = tap;
        this.name = name;
        this.wake = EventFd.create();
        this.thread =
                Thread.ofPlatform().name("uplink-" + port.name()).daemon(true).unstarted(this::run);
    }

    /** The offloads that go as they are to an interface, {@code Offloads.TAKES_*}. */
    private static int offloads(TapDevice tap) {
        return OFFLOADS | (tap.udpSegmentation() ? Offloads.TAKES_UDP_SEGMENTATION : 0);
    }

    private static TapDevice device(String name, int mtu) throws IOException {
        TapDevice tap;
        try {
            tap = TapDevice.open(name);
        } catch (NativeException e) {
            throw new IOException("cannot open the TAP interface " + name + ": " + advice(e, name), e);
        }
        try {
            tap.setMtu(mtu);
            tap.bringUp();
        } catch (NativeException e) {
            LOG.warn("TAP interface {}: MTU and state are left to the administrator ({})", name, e.getMessage());
        }
        return tap;
    }

    private static String advice(NativeException e, String name) {
        return switch (e.errno()) {
            case Errno.EPERM, Errno.EACCES ->
                "not permitted; run as root, or let root make it: ip tuntap add dev " + name
                        + " mode tap vnet_hdr user $USER";
            case Errno.ENOENT, Errno.ENODEV, Errno.ENXIO -> "this system has no /dev/net/tun";
            case Errno.EBUSY -> "another program has it";
            default -> e.getMessage();
        };
    }

    /**
     * Makes the interface, or takes one that is there, and moves frames between it and a new port of the fabric.
     *
     * @throws IOException when the interface cannot be had, with a message that says what to do
     */
    public static TapUplink open(SwitchFabric fabric, UplinkConfig config, String name) throws IOException {
        TapDevice tap = device(name, config.mtu());
        try {
            UplinkPort port = fabric.addUplink(config.withOffloads(offloads(tap)));
            TapUplink uplink = new TapUplink(port, tap, name);
            port.attach(uplink);
            uplink.look();
            uplink.thread.start();
            return uplink;
        } catch (IOException | RuntimeException e) {
            tap.close();
            throw e;
        }
    }

    // ---- its thread ----

    private void run() {
        try {
            while (!closed) {
                if (System.nanoTime() - looked > LOOK_MILLIS * 1_000_000L) {
                    look();
                }
                boolean moved = moveIn();
                moved |= moveOut();
                if (!moved && !closed) {
                    sleep();
                }
            }
        } catch (IOException e) {
            LOG.error("uplink {}: the interface {} has failed: {}", port.name(), name, e.getMessage());
        } finally {
            port.setCarrier(false);
            port.abandon();
            up = false;
        }
    }

    /** Makes both sides see whether the other one is up. */
    private void look() throws IOException {
        looked = System.nanoTime();
        boolean now = tap.up();
        if (now != up) {
            up = now;
            if (now) {
                port.abandon();
            }
            port.setCarrier(now);
            LOG.info("uplink {}: interface {} is {}", port.name(), name, now ? "up" : "down");
            if (!now) {
                port.abandon();
            }
        }
        if (port.adminUp() != shownCarrier) {
            shownCarrier = port.adminUp();
            tap.setCarrier(shownCarrier);
        }
    }

    private void sleep() throws IOException {
        if (!port.outgoing().sleep() && !blocked) {
            return;
        }
        counters.wakeups.increment();
        int timeout = blocked ? RETRY_MILLIS : LOOK_MILLIS;
        if (pending != 0) {
            wake.await(timeout); // no room for another frame: the interface is not asked
        } else {
            Poll.readable(tap.descriptor(), wake.fd().value(), timeout);
        }
        wake.read();
    }

    /** Host to fabric. Returns whether a frame was moved. */
    private boolean moveIn() {
        FrameRing ring = port.incoming();
        int n = 0;
        while (n < FRAMES) {
            if (pending == 0) {
                int r = tap.read(buffer.address(), (int) buffer.byteSize());
                if (r <= VirtioNetHeader.BYTES) {
                    break; // nothing there, or the interface is down
                }
                pending = r - VirtioNetHeader.BYTES;
            }
            long at = ring.reserve(pending);
            if (at == FrameRing.NONE) {
                hand(ring, n);
                if (ring.awaitRoom(pending)) {
                    port.countWait();
                    return n != 0;
                }
                continue;
            }
            long to = at + FrameRing.HEADER;
            MemorySegment.copy(buffer, VirtioNetHeader.BYTES, ring.memory(), to, pending);
            if (VirtioNetHeader.read(buffer, 0, ring, at, VirtioNetHeader.BYTES, pending)) {
                ring.commit();
            } else {
                counters.badHeaders.increment();
            }
            pending = 0;
            n++;
        }
        hand(ring, n);
        return n != 0;
    }

    private void hand(FrameRing ring, int frames) {
        if (frames != 0) {
            ring.publish();
            port.received();
        }
    }

    /** Fabric to host. Returns whether a frame was moved. */
    private boolean moveOut() {
        FrameRing ring = port.outgoing();
        blocked = false;
        int n = 0;
        for (long at = ring.first(); at != FrameRing.NONE && n < FRAMES; at = ring.first()) {
            VirtioNetHeader.write(ring, at);
            long from = ring.memory().address() + at + FrameRing.HEADER - VirtioNetHeader.BYTES;
            int r = tap.write(from, VirtioNetHeader.BYTES + ring.length(at));
            if (r == -Errno.EAGAIN) {
                counters.writeWaits.increment();
                blocked = true;
                break;
            }
            if (r < 0) {
                counters.writeErrors.increment();
            }
            ring.remove();
            n++;
        }
        if (n != 0 && ring.release()) {
            port.sent();
        }
        return n != 0;
    }

    // ---- from the fabric, any thread ----

    @Override
    public void framesReady() {
        wake.signal();
    }

    @Override
    public void roomAgain() {
        wake.signal();
    }

    // ---- for the management side ----

    @Override
    public UplinkPort port() {
        return port;
    }

    @Override
    public String kind() {
        return "tap";
    }

    @Override
    public String endpoint() {
        return name;
    }

    @Override
    public String state() {
        return up ? "up" : "down";
    }

    @Override
    public CounterGroup counters() {
        return counters.group();
    }

    @Override
    public void close() {
        closed = true;
        wake.signal();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        tap.close();
        // The fabric may signal until its workers have ended; the descriptor goes with the process.
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
