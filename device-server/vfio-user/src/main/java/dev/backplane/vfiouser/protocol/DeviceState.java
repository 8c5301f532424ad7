// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/** Migration states of a device ({@code enum vfio_device_mig_state}; the P2P states do not exist in vfio-user). */
public enum DeviceState {
    /** Has failed; only a reset mends it. */
    ERROR(0),
    /** Does nothing and changes nothing. */
    STOP(1),
    /** Works. */
    RUNNING(2),
    /** Stopped, its state can be read. */
    STOP_COPY(3),
    /** Stopped, its state can be written. */
    RESUMING(4),
    /** Works, and what there is of its state can be read already. */
    PRE_COPY(6);

    private final int number;

    DeviceState(int number) {
        this.number = number;
    }

    /** Number on the wire. */
    public int number() {
        return number;
    }

    /** The state of that number, or null. */
    public static DeviceState of(int number) {
        for (DeviceState s : values()) {
            if (s.number == number) {
                return s;
            }
        }
        return null;
    }

    /** Whether the device works. */
    public boolean running() {
        return this == RUNNING || this == PRE_COPY;
    }

    /** Whether its state can be read. */
    public boolean saving() {
        return this == STOP_COPY || this == PRE_COPY;
    }
}
