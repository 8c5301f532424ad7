// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.layout;

import dev.backplane.vfiouser.layout.Constants;

/** PCI ids of the devices. The vendor id is not registered with the PCI-SIG: these devices exist in software only. */
public final class PciIds {
    /** Vendor, also used as subsystem vendor. */
    public static final int VENDOR = 0xba5c;
    /** Aggregation device; from the number of US patent 8,868,672. */
    public static final int AGGREGATION_DEVICE = 0x8672;
    /** Inter-node messaging module; from the number of US patent 9,672,143. */
    public static final int MESSAGING_MODULE = 0x2143;

    public static final Constants CONSTANTS = Constants.of("PCI ids", "vendor id is not registered with the PCI-SIG")
            .add("BP_PCI_VENDOR_ID", VENDOR, "vendor and subsystem vendor")
            .add("BP_PCI_DEVICE_ID_AGG", AGGREGATION_DEVICE, "aggregation device")
            .add("BP_PCI_DEVICE_ID_IMM", MESSAGING_MODULE, "inter-node messaging module")
            .build();

    private PciIds() {}
}
