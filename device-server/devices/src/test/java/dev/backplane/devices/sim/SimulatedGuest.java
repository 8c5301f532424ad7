// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.sim;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.MapRefusedException;
import dev.backplane.vfiouser.pci.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * A guest with one device: memory from {@link #RAM_BASE} on, interrupts that are recorded, and register accesses. The
 * test plays the driver. As with a real client, one thread at a time accesses registers; memory is open to any thread.
 */
public final class SimulatedGuest implements AutoCloseable {
    /** Above 4 GiB, so that a device that truncates addresses is found out. */
    public static final long RAM_BASE = 0x1_0000_0000L;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT_HANDLE = INT.varHandle();
    private static final VarHandle LONG_HANDLE = LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment ram;
    private final GuestMemory memory = new GuestMemory();
    private final RecordingInterrupts interrupts = new RecordingInterrupts();
    private final Map<Integer, MemorySegment> mappedBars = new HashMap<>();
    private final DeviceLink link = new Link();
    private volatile boolean busMaster = true;
    private long allocated;
    private PciDevice device;

    /** A guest with that much memory, mapped and zero, and no device yet. */
    public SimulatedGuest(long ramBytes) {
        ram = arena.allocate(ramBytes, 4096);
        try {
            memory.map(RAM_BASE, ram);
        } catch (MapRefusedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The link that {@link #attach} hands to the device. */
    public DeviceLink link() {
        return link;
    }

    public GuestMemory memory() {
        return memory;
    }

    public RecordingInterrupts interrupts() {
        return interrupts;
    }

    /** All of the guest's memory; address {@link #RAM_BASE} is its byte 0. */
    public MemorySegment ram() {
        return ram;
    }

    /** Sets Bus Master Enable; on from the start. */
    public void busMaster(boolean on) {
        busMaster = on;
    }

    // ---- the device ----

    /** Connects a device. */
    public SimulatedGuest attach(PciDevice pciDevice) {
        for (Bar bar : pciDevice.function().bars()) {
            if (!bar.mapped().isEmpty() && !mappedBars.containsKey(bar.index())) {
                mappedBars.put(bar.index(), arena.allocate(bar.bytes(), 65_536));
            }
        }
        device = pciDevice;
        pciDevice.attach(link);
        return this;
    }

    /** Disconnects the device, as a client does that goes away. */
    public void detach() {
        device.detach();
        device = null;
    }

    public void reset(ResetKind kind) {
        device.reset(kind);
    }

    public PciDevice device() {
        return device;
    }

    /** The memory of a client-mappable BAR. */
    public MemorySegment mappedBar(int bar) {
        MemorySegment segment = mappedBars.get(bar);
        if (segment == null) {
            throw new IllegalArgumentException("BAR " + bar + " has no mapped area");
        }
        return segment;
    }

    public int read32(int bar, long offset) {
        return (int) device.read(bar, offset, 4);
    }

    public void write32(int bar, long offset, int value) {
        device.write(bar, offset, 4, value & 0xffff_ffffL);
    }

    public long read64(int bar, long offset) {
        return device.read(bar, offset, 8);
    }

    public void write64(int bar, long offset, long value) {
        device.write(bar, offset, 8, value);
    }

    // ---- memory ----

    /** Takes {@code bytes} of memory, aligned to 64 bytes; returns the guest address. Nothing is ever given back. */
    public long allocate(long bytes) {
        return allocate(bytes, 64);
    }

    /** Takes {@code bytes} of memory; returns the guest address. */
    public synchronized long allocate(long bytes, long alignment) {
        long at = (allocated + alignment - 1) / alignment * alignment;
        if (at + bytes > ram.byteSize()) {
            throw new IllegalStateException("guest memory of " + ram.byteSize() + " bytes is used up");
        }
        allocated = at + bytes;
        return RAM_BASE + at;
    }

    /** The memory behind a guest address. */
    public MemorySegment at(long address, long bytes) {
        return ram.asSlice(address - RAM_BASE, bytes);
    }

    /** Copies bytes into memory. */
    public void put(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ram, ValueLayout.JAVA_BYTE, address - RAM_BASE, bytes.length);
    }

    /** Copies bytes out of memory. */
    public byte[] get(long address, int bytes) {
        return at(address, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    public int getByte(long address) {
        return ram.get(ValueLayout.JAVA_BYTE, address - RAM_BASE) & 0xff;
    }

    public int getShort(long address) {
        return ram.get(SHORT, address - RAM_BASE) & 0xffff;
    }

    public int getInt(long address) {
        return ram.get(INT, address - RAM_BASE);
    }

    public long getLong(long address) {
        return ram.get(LONG, address - RAM_BASE);
    }

    public int getIntAcquire(long address) {
        return (int) INT_HANDLE.getAcquire(ram, address - RAM_BASE);
    }

    public long getLongAcquire(long address) {
        return (long) LONG_HANDLE.getAcquire(ram, address - RAM_BASE);
    }

    public void setByte(long address, int value) {
        ram.set(ValueLayout.JAVA_BYTE, address - RAM_BASE, (byte) value);
    }

    public void setShort(long address, int value) {
        ram.set(SHORT, address - RAM_BASE, (short) value);
    }

    public void setInt(long address, int value) {
        ram.set(INT, address - RAM_BASE, value);
    }

    public void setLong(long address, long value) {
        ram.set(LONG, address - RAM_BASE, value);
    }

    public void setIntRelease(long address, int value) {
        INT_HANDLE.setRelease(ram, address - RAM_BASE, value);
    }

    public void setLongRelease(long address, long value) {
        LONG_HANDLE.setRelease(ram, address - RAM_BASE, value);
    }

    /** The guest ends: its device is detached, its memory unmapped and then gone. */
    @Override
    public void close() {
        if (device != null) {
            detach();
        }
        memory.unmapAll();
        arena.close();
    }

    private final class Link implements DeviceLink {
        @Override
        public GuestMemory memory() {
            return memory;
        }

        @Override
        public RecordingInterrupts interrupts() {
            return interrupts;
        }

        @Override
        public boolean busMaster() {
            return busMaster;
        }

        @Override
        public MemorySegment mappedBar(int bar) {
            return SimulatedGuest.this.mappedBar(bar);
        }

        @Override
        public void markDeath(int bar, long offset) {
            mappedBar(bar).set(INT, offset, 1);
        }
    }
}
