// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import java.util.List;

/**
 * What a function looks like on the bus, from which the library makes its configuration space, its regions and its
 * interrupts. The capabilities power management, PCI Express endpoint with FLR, and MSI-X (when there are vectors) come
 * by themselves.
 *
 * @param vendorId 16 bits
 * @param deviceId 16 bits
 * @param subsystemVendorId 16 bits
 * @param subsystemId 16 bits
 * @param revision 8 bits
 * @param classCode 24 bits: base class, sub-class, programming interface
 * @param bars the BARs, each index once
 * @param pin whether the function has an INTx pin
 * @param msix the MSI-X structures, or null
 */
public record PciFunction(
        int vendorId,
        int deviceId,
        int subsystemVendorId,
        int subsystemId,
        int revision,
        int classCode,
        List<Bar> bars,
        boolean pin,
        Msix msix) {
    /**
     * Where the MSI-X table and the pending-bit array are (PCIe 6.2, 7.7.2). The library serves both; they must not
     * touch a mapped area.
     *
     * @param vectors 1 to 2048
     * @param bar the BAR that holds both
     * @param tableOffset bytes, a multiple of 4096 so that a client can trap the table by itself
     * @param pbaOffset bytes, a multiple of 4096
     */
    public record Msix(int vectors, int bar, long tableOffset, long pbaOffset) {
        public Msix {
            if (vectors < 1 || vectors > 2048) {
                throw new IllegalArgumentException("1 to 2048 MSI-X vectors, not " + vectors);
            }
            if (tableOffset % Bar.PAGE != 0 || pbaOffset % Bar.PAGE != 0) {
                throw new IllegalArgumentException("MSI-X table and PBA start at a multiple of 4096");
            }
        }

        /** Bytes of the table. */
        public long tableBytes() {
            return vectors * 16L;
        }

        /** Bytes of the pending-bit array. */
        public long pbaBytes() {
            return (vectors + 63L) / 64 * 8;
        }
    }

    public PciFunction {
        bars = List.copyOf(bars);
        if (bars.stream().map(Bar::index).distinct().count() != bars.size()) {
            throw new IllegalArgumentException("a BAR index is used twice: " + bars);
        }
        if (msix != null) {
            requireRoom(bars, msix, msix.tableOffset(), msix.tableBytes());
            requireRoom(bars, msix, msix.pbaOffset(), msix.pbaBytes());
        }
    }

    private static void requireRoom(List<Bar> bars, Msix msix, long offset, long bytes) {
        Bar bar = bars.stream()
                .filter(b -> b.index() == msix.bar())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("MSI-X in BAR " + msix.bar() + ", which is not there"));
        if (offset > bar.bytes() - bytes) {
            throw new IllegalArgumentException("MSI-X structure at " + offset + " exceeds BAR " + bar.index());
        }
        for (Bar.Area a : bar.mapped()) {
            if (offset < a.offset() + a.bytes() && a.offset() < offset + bytes) {
                throw new IllegalArgumentException("MSI-X structure at " + offset + " lies in mapped area " + a);
            }
        }
    }

    /** The BAR of that index, or null. */
    public Bar bar(int index) {
        for (Bar b : bars) {
            if (b.index() == index) {
                return b;
            }
        }
        return null;
    }
}
