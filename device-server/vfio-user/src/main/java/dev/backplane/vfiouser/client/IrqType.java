// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.protocol.Region;

/** Kinds of interrupts of a PCI device, with their numbers in {@code linux/vfio.h}. */
public enum IrqType {
    /** The pin, level-triggered and masked after each signal. */
    INTX(Region.IRQ_INTX),
    MSI(Region.IRQ_MSI),
    MSIX(Region.IRQ_MSIX),
    /** The device reports an error that it cannot recover from. */
    ERR(Region.IRQ_ERR),
    /** The server asks for the device back. */
    REQ(Region.IRQ_REQ);

    private final int index;

    IrqType(int index) {
        this.index = index;
    }

    int index() {
        return index;
    }
}
