// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static dev.backplane.vfiouser.layout.Access.DRIVER;

import dev.backplane.vfiouser.layout.Struct;

/** A location allocated in the receiver's memory (US 8,868,672, claim 1): an empty receive buffer. */
public final class ReceiveDescriptor {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_agg_rx_desc", "A location allocated in the receiver's memory (US 8,868,672, claim 1).")
            .u64("address", DRIVER, "Guest address of an empty buffer.")
            .u32("length", DRIVER, "Bytes of the buffer, at least 64.")
            .u32("reserved_12", DRIVER, "Zero.")
            .size(16);

    public static final int BYTES = LAYOUT.size();
    public static final int ADDRESS = LAYOUT.offset("address");
    public static final int LENGTH = LAYOUT.offset("length");

    /** Smallest receive buffer. */
    public static final int MIN_BUFFER = 64;

    private ReceiveDescriptor() {}
}
