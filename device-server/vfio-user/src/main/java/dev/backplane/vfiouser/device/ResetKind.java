// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

/** What caused a reset. */
public enum ResetKind {
    /** The client sent DEVICE_RESET (a guest's reboot, bus reset or power cycle). */
    BUS,
    /** Software set Initiate Function Level Reset in the PCI Express device control register (PCIe 6.2, 7.5.3.4). */
    FUNCTION_LEVEL
}
