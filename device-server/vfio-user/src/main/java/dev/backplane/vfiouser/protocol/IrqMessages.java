// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;

/** Payloads of DEVICE_GET_IRQ_INFO and DEVICE_SET_IRQS. Numbers are those of {@code linux/vfio.h}. */
public final class IrqMessages {
    /** {@code struct vfio_irq_info}. */
    public static final Struct INFO = Struct.memory("vfio_irq_info", "A kind of interrupt.")
            .u32("argsz", RW, "Request: room for the reply. Reply: size of all there is.")
            .u32("flags", RW, "What can be done with it.")
            .u32("index", RW, "Which kind.")
            .u32("count", RW, "Number of vectors.")
            .size(16);

    public static final int INFO_ARGSZ = INFO.offset("argsz");
    public static final int INFO_FLAGS = INFO.offset("flags");
    public static final int INFO_INDEX = INFO.offset("index");
    public static final int INFO_COUNT = INFO.offset("count");

    public static final int INFO_EVENTFD = 1;
    public static final int INFO_MASKABLE = 2;
    public static final int INFO_AUTOMASKED = 4;

    /** {@code struct vfio_irq_set}, before the booleans. No reply payload. */
    public static final Struct SET = Struct.memory("vfio_irq_set", "What to do with a range of vectors.")
            .u32("argsz", RW, "Size of this structure and its data.")
            .u32("flags", RW, "One DATA and one ACTION bit.")
            .u32("index", RW, "Which kind of interrupt.")
            .u32("start", RW, "First vector.")
            .u32("count", RW, "Number of vectors.")
            .size(20);

    public static final int SET_ARGSZ = SET.offset("argsz");
    public static final int SET_FLAGS = SET.offset("flags");
    public static final int SET_INDEX = SET.offset("index");
    public static final int SET_START = SET.offset("start");
    public static final int SET_COUNT = SET.offset("count");

    /** Start of the booleans. */
    public static final int SET_DATA = SET.size();

    public static final int DATA_NONE = 1;
    public static final int DATA_BOOL = 2;
    public static final int DATA_EVENTFD = 4;
    public static final int DATA_MASK = DATA_NONE | DATA_BOOL | DATA_EVENTFD;
    public static final int ACTION_MASK = 8;
    public static final int ACTION_UNMASK = 0x10;
    public static final int ACTION_TRIGGER = 0x20;
    public static final int ACTIONS_MASK = ACTION_MASK | ACTION_UNMASK | ACTION_TRIGGER;

    private IrqMessages() {}
}
