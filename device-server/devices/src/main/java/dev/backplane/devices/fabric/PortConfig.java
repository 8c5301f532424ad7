// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * Settings of one port.
 *
 * @param adminUp whether the port is up once its device is enabled
 * @param speedMbit speed that the guest reports, in Mbit/s; has no effect on the data path
 * @param quotaBytes most bytes of rendezvous memory that frames for this port may hold; 0 for the fabric's default
 * @param weight share of the moves out when many ports have frames, 1 to {@link #MAX_WEIGHT}
 * @param vlans the VLANs that the port carries
 * @param antiSpoofing whether frames with a source address other than the node's own are refused
 * @param mirrorTo name of the node or uplink that gets a copy of all frames from and to this port, or null
 * @param rateMbit limit of the moves out in Mbit/s, as a link of that speed would; 0 for none
 * @param latencyMicros time in microseconds that a frame stays in rendezvous memory at least; 0 for none
 */
public record PortConfig(
        boolean adminUp,
        int speedMbit,
        long quotaBytes,
        int weight,
        VlanPolicy vlans,
        boolean antiSpoofing,
        String mirrorTo,
        int rateMbit,
        int latencyMicros) {
    public static final int MAX_WEIGHT = 100;
    public static final int MAX_SPEED_MBIT = 800_000;
    public static final int MAX_LATENCY_MICROS = 10_000_000;

    private static final PortConfig DEFAULTS = new PortConfig(true, 100_000, 0, 1, VlanPolicy.all(), false, null, 0, 0);

    public PortConfig {
        require("speed", speedMbit, 1, MAX_SPEED_MBIT);
        require("weight", weight, 1, MAX_WEIGHT);
        require("rate", rateMbit, 0, MAX_SPEED_MBIT);
        require("latency", latencyMicros, 0, MAX_LATENCY_MICROS);
        require("quota", quotaBytes, 0, Long.MAX_VALUE);
    }

    /** Up, 100 Gbit/s, all VLANs, nothing limited. */
    public static PortConfig defaults() {
        return DEFAULTS;
    }

    public PortConfig withAdminUp(boolean up) {
        return new PortConfig(
                up, speedMbit, quotaBytes, weight, vlans, antiSpoofing, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withSpeedMbit(int mbit) {
        return new PortConfig(
                adminUp, mbit, quotaBytes, weight, vlans, antiSpoofing, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withQuotaBytes(long bytes) {
        return new PortConfig(
                adminUp, speedMbit, bytes, weight, vlans, antiSpoofing, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withWeight(int share) {
        return new PortConfig(
                adminUp, speedMbit, quotaBytes, share, vlans, antiSpoofing, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withVlans(VlanPolicy policy) {
        return new PortConfig(
                adminUp, speedMbit, quotaBytes, weight, policy, antiSpoofing, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withAntiSpoofing(boolean on) {
        return new PortConfig(adminUp, speedMbit, quotaBytes, weight, vlans, on, mirrorTo, rateMbit, latencyMicros);
    }

    public PortConfig withMirrorTo(String name) {
        return new PortConfig(
                adminUp, speedMbit, quotaBytes, weight, vlans, antiSpoofing, name, rateMbit, latencyMicros);
    }

    public PortConfig withRateMbit(int mbit) {
        return new PortConfig(
                adminUp, speedMbit, quotaBytes, weight, vlans, antiSpoofing, mirrorTo, mbit, latencyMicros);
    }

    public PortConfig withLatencyMicros(int micros) {
        return new PortConfig(adminUp, speedMbit, quotaBytes, weight, vlans, antiSpoofing, mirrorTo, rateMbit, micros);
    }

    private static void require(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("port: " + what + " is " + min + " to " + max + ", not " + value);
        }
    }
}
