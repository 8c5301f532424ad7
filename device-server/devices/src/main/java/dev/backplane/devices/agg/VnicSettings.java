// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

/** What data paths need of the control registers, as of one moment: taken over whenever one of them is written. */
record VnicSettings(int mtu, int queuePairs, int packetFilter, long multicastFilter, long driverFeatures) {
    static VnicSettings of(VnicState state) {
        return new VnicSettings(
                state.getInt(AggRegisters.MTU),
                state.getInt(AggRegisters.QUEUE_PAIRS),
                state.getInt(AggRegisters.PACKET_FILTER),
                state.getLong(AggRegisters.MULTICAST_FILTER),
                state.getLong(AggRegisters.DRIVER_FEATURES));
    }

    /** Whether the guest wants a frame that is not addressed to it alone. */
    boolean wantsFlooded(long destination, boolean group) {
        if ((packetFilter & AggRegisters.FILTER_PROMISCUOUS) != 0) {
            return true;
        }
        return group
                && ((packetFilter & AggRegisters.FILTER_ALL_MULTICAST) != 0
                        || MulticastFilter.passes(multicastFilter, destination));
    }
}
