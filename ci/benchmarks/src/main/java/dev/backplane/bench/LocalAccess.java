// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.interrupt.Interrupts;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.MapRefusedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A device in this process: no socket, no other thread, so that what is measured is the device. */
final class LocalAccess implements SimulatedNode.Access, DeviceLink, Interrupts {
    private final PciDevice device;
    private final GuestMemory memory = new GuestMemory();
    private final Arena arena = Arena.ofShared();

    LocalAccess(PciDevice device) {
        this.device = device;
        device.attach(this);
    }

    @Override
    public MemorySegment memory(long iova, long bytes) {
        MemorySegment segment = arena.allocate(bytes, 4096);
        try {
            memory.map(iova, segment);
        } catch (MapRefusedException e) {
            throw new IllegalStateException(e);
        }
        return segment;
    }

    @Override
    public int read(long offset) {
        return (int) device.read(0, offset, 4);
    }

    @Override
    public void write(long offset, int width, long value) {
        device.write(0, offset, width, value);
    }

    @Override
    public void ring(long offset) {
        device.write(0, offset, 4, 1);
    }

    @Override
    public GuestMemory memory() {
        return memory;
    }

    @Override
    public Interrupts interrupts() {
        return this;
    }

    @Override
    public boolean busMaster() {
        return true;
    }

    @Override
    public MemorySegment mappedBar(int bar) {
        throw new IllegalArgumentException("BAR " + bar + " has no mapped area");
    }

    @Override
    public void markDeath(int bar, long offset) {
        throw new IllegalArgumentException("BAR " + bar + " has no mapped area");
    }

    @Override
    public boolean messageSignalled() {
        return true;
    }

    @Override
    public void signal(int vector) {}

    @Override
    public void pin(boolean asserted) {}

    @Override
    public void close() {
        device.detach();
        memory.unmapAll();
        arena.close();
    }
}
