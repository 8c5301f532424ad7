// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/** Bits of an address as a number; see {@link dev.backplane.devices.MacAddress}. */
final class MacAddressBits {
    /** Set in addresses of groups of stations (IEEE 802, 8.2). */
    static final long GROUP = 0x0100_0000_0000L;
    /** The address of all stations. */
    static final long BROADCAST = 0xffff_ffff_ffffL;

    private MacAddressBits() {}
}
