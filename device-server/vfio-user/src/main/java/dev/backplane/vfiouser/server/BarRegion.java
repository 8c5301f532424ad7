// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.interrupt.InterruptController;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.MsixTable;
import dev.backplane.vfiouser.pci.PciFunction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A BAR as the client accesses it by messages: each access goes to the MSI-X structures, to mapped memory or to the
 * device. An access of any size is split into the widths that a device knows, naturally aligned, in order of address.
 * Confined to the client's thread.
 */
final class BarRegion {
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final PciDevice device;
    private final InterruptController interrupts;
    private final int index;
    private final long bytes;
    private final List<Bar.Area> areas;
    private final MappedBar mapped;
    private final MsixTable table;
    private final long tableStart;
    private final long tableEnd;
    private final long pbaStart;
    private final long pbaEnd;

    /**
     * @param mapped the memory behind the mapped areas, or null when there are none
     * @param table the MSI-X table, or null when it is not in this BAR
     */
    BarRegion(
            PciDevice device,
            Bar bar,
            MappedBar mapped,
            PciFunction.Msix msix,
            MsixTable table,
            InterruptController interrupts) {
        this.device = device;
        this.interrupts = interrupts;
        this.index = bar.index();
        this.bytes = bar.bytes();
        this.areas = bar.mapped();
        this.mapped = mapped;
        this.table = table;
        boolean here = table != null;
        this.tableStart = here ? msix.tableOffset() : -1;
        this.tableEnd = here ? msix.tableOffset() + msix.tableBytes() : -1;
        this.pbaStart = here ? msix.pbaOffset() : -1;
        this.pbaEnd = here ? msix.pbaOffset() + msix.pbaBytes() : -1;
    }

    long bytes() {
        return bytes;
    }

    List<Bar.Area> areas() {
        return areas;
    }

    /** The memory behind the mapped areas, or null. */
    MappedBar mapped() {
        return mapped;
    }

    /** Whether an access at that offset is the device's to handle. */
    boolean reachesDevice(long offset) {
        return !(offset >= tableStart && offset < tableEnd)
                && !(offset >= pbaStart && offset < pbaEnd)
                && !isMapped(offset);
    }

    /** Carries out a write that came without a message, of a register that {@link #reachesDevice}. */
    void deliver(long offset, int width, long value) {
        device.write(index, offset, width, value);
    }

    /** Reads {@code count} bytes at {@code offset}, a range inside the BAR. */
    void read(long offset, int count, MemorySegment to, long at) {
        int done = 0;
        while (done < count) {
            int width = width(offset + done, count - done);
            long value = read(offset + done, width);
            switch (width) {
                case 1 -> to.set(ValueLayout.JAVA_BYTE, at + done, (byte) value);
                case 2 -> to.set(SHORT, at + done, (short) value);
                case 4 -> to.set(INT, at + done, (int) value);
                default -> to.set(LONG, at + done, value);
            }
            done += width;
        }
    }

    /** Writes {@code count} bytes at {@code offset}, a range inside the BAR. */
    void write(long offset, int count, MemorySegment from, long at) {
        int done = 0;
        while (done < count) {
            int width = width(offset + done, count - done);
            long value = switch (width) {
                case 1 -> from.get(ValueLayout.JAVA_BYTE, at + done) & 0xffL;
                case 2 -> from.get(SHORT, at + done) & 0xffffL;
                case 4 -> from.get(INT, at + done) & 0xffff_ffffL;
                default -> from.get(LONG, at + done);
            };
            write(offset + done, width, value);
            done += width;
        }
    }

    /** The greatest width that is naturally aligned at {@code offset} and not more than {@code left}. */
    private static int width(long offset, int left) {
        int width = 8;
        while (width > left || (offset & (width - 1)) != 0) {
            width >>= 1;
        }
        return width;
    }

    private long read(long offset, int width) {
        if (offset >= tableStart && offset < tableEnd) {
            return table.read((int) (offset - tableStart), width);
        }
        if (offset >= pbaStart && offset < pbaEnd) {
            return readPba((int) (offset - pbaStart), width);
        }
        if (isMapped(offset)) {
            MemorySegment m = mapped.memory();
            return switch (width) {
                case 1 -> m.get(ValueLayout.JAVA_BYTE, offset) & 0xffL;
                case 2 -> m.get(SHORT, offset) & 0xffffL;
                case 4 -> m.get(INT, offset) & 0xffff_ffffL;
                default -> m.get(LONG, offset);
            };
        }
        return device.read(index, offset, width);
    }

    private void write(long offset, int width, long value) {
        if (offset >= tableStart && offset < tableEnd) {
            table.write((int) (offset - tableStart), width, value);
        } else if (offset >= pbaStart && offset < pbaEnd) {
            // read-only (PCIe 6.2, 7.7.2.9)
        } else if (isMapped(offset)) {
            MemorySegment m = mapped.memory();
            switch (width) {
                case 1 -> m.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
                case 2 -> m.set(SHORT, offset, (short) value);
                case 4 -> m.set(INT, offset, (int) value);
                default -> m.set(LONG, offset, value);
            }
        } else {
            device.write(index, offset, width, value);
        }
    }

    private long readPba(int offset, int width) {
        long word = interrupts.pending(offset / 8) >>> (8 * (offset % 8));
        return width == 8 ? word : word & ((1L << (8 * width)) - 1);
    }

    private boolean isMapped(long offset) {
        if (mapped == null) {
            return false;
        }
        for (int i = 0; i < areas.size(); i++) {
            Bar.Area a = areas.get(i);
            if (offset >= a.offset() && offset - a.offset() < a.bytes()) {
                return true;
            }
        }
        return false;
    }
}
