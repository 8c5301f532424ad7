// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

/**
 * The filter of groups that a vNIC receives: 64 bits, indexed by the top six bits of the address's CRC-32, the usual
 * form of network controllers. {@code ether_crc(ETH_ALEN, address) >> 26} of Linux gives the same index.
 */
final class MulticastFilter {
    private static final long BROADCAST = 0xffff_ffff_ffffL;
    private static final int POLYNOMIAL = 0x04c1_1db7;

    private MulticastFilter() {}

    /** Whether the filter lets a group address pass; broadcast always does. */
    static boolean passes(long filter, long address) {
        return address == BROADCAST || (filter & 1L << index(address)) != 0;
    }

    /** Bit for an address: CRC-32 as sent, most significant bit first, each byte least significant bit first. */
    static int index(long address) {
        int crc = -1;
        for (int shift = 40; shift >= 0; shift -= 8) {
            int octet = (int) (address >>> shift) & 0xff;
            for (int bit = 0; bit < 8; bit++) {
                int feedback = (crc >>> 31) ^ ((octet >>> bit) & 1);
                crc = crc << 1 ^ (feedback == 0 ? 0 : POLYNOMIAL);
            }
        }
        return crc >>> 26;
    }
}
