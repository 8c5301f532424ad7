// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.device.IoEventDevice;
import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * A device with one of everything: a page of registers that keep what is written, memory of which two areas can be
 * mapped, MSI-X with 64 vectors, a pin, and a state that can be saved. The tests get at its guest's memory and
 * interrupts through {@link #link}.
 */
public final class ScratchDevice implements IoEventDevice, Migratable {
    /** The register page. */
    public static final int REGISTERS = 0;

    /** The memory. */
    public static final int MEMORY = 2;

    /** MSI-X. */
    public static final int MSIX = 4;

    /** Registers that can be written to by event descriptors: any value, one value, any with its value. */
    public static final int DOORBELL = 0x800;

    public static final int MATCHING = 0x808;
    public static final int MATCHED = 0x5a;
    public static final int SHADOWED = 0x810;
    public static final int SHADOWED_LONG = 0x818;

    private static final int REGISTER_BYTES = 4096;
    private static final int MAGIC = 0x5c4a7c81;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    private static final PciFunction FUNCTION = new PciFunction(
            0x1b36,
            0x5c4a,
            0x1af4,
            0x1100,
            1,
            0xff0000,
            List.of(
                    Bar.registers(REGISTERS, REGISTER_BYTES),
                    new Bar(MEMORY, 0x10000, true, List.of(new Bar.Area(0x1000, 0x1000), new Bar.Area(0x8000, 0x2000))),
                    Bar.registers(MSIX, 0x4000)),
            true,
            new PciFunction.Msix(64, MSIX, 0, 0x2000));

    private static final List<IoEvent> IO_EVENTS = List.of(
            IoEvent.doorbell(REGISTERS, DOORBELL, 4),
            IoEvent.matching(REGISTERS, MATCHING, 4, MATCHED),
            IoEvent.shadowed(REGISTERS, SHADOWED, 4),
            IoEvent.shadowed(REGISTERS, SHADOWED_LONG, 8),
            IoEvent.doorbell(MSIX, 0x3000, 4));

    private final MemorySegment registers = Arena.ofAuto().allocate(REGISTER_BYTES, 8);
    private volatile DeviceLink link;

    @Override
    public PciFunction function() {
        return FUNCTION;
    }

    @Override
    public List<IoEvent> ioEvents() {
        return IO_EVENTS;
    }

    @Override
    public void attach(DeviceLink link) {
        this.link = link;
    }

    /** The way to the guest, while a client is connected. */
    public Optional<DeviceLink> link() {
        return Optional.ofNullable(link);
    }

    @Override
    public long read(int bar, long offset, int width) {
        if (bar != REGISTERS) {
            return 0;
        }
        return switch (width) {
            case 1 -> registers.get(ValueLayout.JAVA_BYTE, offset) & 0xffL;
            case 2 -> registers.get(SHORT, offset) & 0xffffL;
            case 4 -> registers.get(INT, offset) & 0xffff_ffffL;
            default -> registers.get(LONG, offset);
        };
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
        if (bar != REGISTERS) {
            return;
        }
        switch (width) {
            case 1 -> registers.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
            case 2 -> registers.set(SHORT, offset, (short) value);
            case 4 -> registers.set(INT, offset, (int) value);
            default -> registers.set(LONG, offset, value);
        }
    }

    @Override
    public void reset(ResetKind kind) {
        registers.fill((byte) 0);
    }

    @Override
    public void detach() {
        link = null;
        registers.fill((byte) 0);
    }

    @Override
    public void stop() {
        // nothing moves by itself
    }

    @Override
    public void resume() {
        // nor has it to be set going
    }

    @Override
    public long stateBytes() {
        return 4 + REGISTER_BYTES;
    }

    @Override
    public void save(MemorySegment out) {
        out.set(INT, 0, MAGIC);
        MemorySegment.copy(registers, 0, out, 4, REGISTER_BYTES);
    }

    @Override
    public void restore(MemorySegment in) {
        if (in.byteSize() != stateBytes() || in.get(INT, 0) != MAGIC) {
            registers.fill((byte) 0);
            throw new IllegalArgumentException("not the state of a scratch device: " + in.byteSize() + " bytes");
        }
        MemorySegment.copy(in, 4, registers, 0, REGISTER_BYTES);
    }
}
