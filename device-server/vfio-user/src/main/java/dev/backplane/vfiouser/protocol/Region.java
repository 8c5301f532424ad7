// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/** Indices of regions and of kinds of interrupts of a PCI device ({@code linux/vfio.h}). */
public final class Region {
    /** BAR n has index n. */
    public static final int BAR0 = 0;

    public static final int BAR5 = 5;
    public static final int ROM = 6;
    public static final int CONFIG = 7;
    public static final int VGA = 8;

    /** Number of regions. */
    public static final int COUNT = 9;

    public static final int IRQ_INTX = 0;
    public static final int IRQ_MSI = 1;
    public static final int IRQ_MSIX = 2;
    public static final int IRQ_ERR = 3;
    public static final int IRQ_REQ = 4;

    /** Number of kinds of interrupts. */
    public static final int IRQ_COUNT = 5;

    private Region() {}
}
