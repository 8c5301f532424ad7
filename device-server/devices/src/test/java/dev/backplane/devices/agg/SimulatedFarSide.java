// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.uplink.FarSide;
import dev.backplane.devices.uplink.FrameRing;
import dev.backplane.devices.uplink.UplinkPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A far side whose thread is the test's. */
final class SimulatedFarSide implements FarSide {
    final UplinkPort port;
    final AtomicInteger framesReady = new AtomicInteger();
    final AtomicInteger roomAgain = new AtomicInteger();

    /** Attaches to the port, and brings the link up. */
    SimulatedFarSide(UplinkPort port) {
        this.port = port;
        port.attach(this);
        port.setCarrier(true);
    }

    @Override
    public void framesReady() {
        framesReady.incrementAndGet();
    }

    @Override
    public void roomAgain() {
        roomAgain.incrementAndGet();
    }

    /** Puts a frame into the ring, without telling the fabric; returns false when there is no room. */
    boolean offer(byte[] frame) {
        FrameRing ring = port.incoming();
        long at = ring.reserve(frame.length);
        if (at == FrameRing.NONE) {
            return false;
        }
        MemorySegment.copy(frame, 0, ring.memory(), ValueLayout.JAVA_BYTE, at + FrameRing.HEADER, frame.length);
        ring.commit();
        return true;
    }

    /** Sends a frame for which there is room. */
    void send(byte[] frame) {
        if (!offer(frame)) {
            throw new AssertionError("no room in the incoming ring");
        }
        port.incoming().publish();
        port.received();
    }

    /** Takes all frames that are in the ring now. */
    List<byte[]> receive() {
        List<byte[]> all = new ArrayList<>();
        FrameRing ring = port.outgoing();
        for (long at = ring.first(); at != FrameRing.NONE; at = ring.first()) {
            all.add(ring.memory()
                    .asSlice(at + FrameRing.HEADER, ring.length(at))
                    .toArray(ValueLayout.JAVA_BYTE));
            ring.remove();
        }
        if (ring.release()) {
            port.sent();
        }
        return all;
    }

    /** Takes frames until there have been {@code n}. */
    List<byte[]> receive(int n, FabricFixture fabric) {
        List<byte[]> all = new ArrayList<>();
        fabric.await(n + " frames at the far side", () -> {
            all.addAll(receive());
            return all.size() >= n;
        });
        return all;
    }

    long count(String name) {
        return port.counterGroup().get(name);
    }
}
