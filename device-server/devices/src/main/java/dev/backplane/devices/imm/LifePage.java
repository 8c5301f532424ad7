// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/**
 * The page after the last context page, mapped by the driver alone: it tells whether the device server lives. A register
 * would tell, too, but a client whose access is on its way when the server dies waits for its time-out, or worse.
 */
public final class LifePage {
    public static final Struct LAYOUT = Struct.memory(
                    "bp_imm_life", "After the last context page, at context_count * context_stride of BAR 4.")
            .u32(
                    "server",
                    DEVICE,
                    "Has BP_IMM_LIFE_DEAD once the device server has ended, however it did; 0: it cannot tell.")
            .reservedTo(0x40)
            .size(0x40);

    public static final int SERVER = LAYOUT.offset("server");

    /** Written by the kernel when the server's process ends ({@link DeviceLink#markDeath}). */
    public static final int DEAD = DeviceLink.DEAD;

    public static final Constants CONSTANTS = Constants.of("Life page", "values of its words")
            .add("BP_IMM_LIFE_DEAD", DEAD, "bit of server: no register will ever answer again")
            .build();

    private LifePage() {}
}
