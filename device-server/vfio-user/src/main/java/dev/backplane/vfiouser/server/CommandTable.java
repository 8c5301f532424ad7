// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.RegionMessages;

/** Which handler carries out which command. */
final class CommandTable {
    private static final CommandHandler[] HANDLERS = new CommandHandler[Command.LIMIT];

    static {
        HANDLERS[Command.VERSION] = new VersionHandler();
        HANDLERS[Command.DMA_MAP] = DmaHandlers::map;
        HANDLERS[Command.DMA_UNMAP] = holding(DmaHandlers::unmap);
        HANDLERS[Command.DEVICE_GET_INFO] = InfoHandlers::device;
        HANDLERS[Command.DEVICE_GET_REGION_INFO] = RegionInfoHandlers::info;
        HANDLERS[Command.DEVICE_GET_REGION_IO_FDS] = new IoFdsHandler();
        HANDLERS[Command.DEVICE_GET_IRQ_INFO] = InfoHandlers::irq;
        HANDLERS[Command.DEVICE_SET_IRQS] = new SetIrqsHandler();
        HANDLERS[Command.REGION_READ] = RegionAccessHandlers::read;
        HANDLERS[Command.REGION_WRITE] = CommandTable::write;
        HANDLERS[Command.DEVICE_RESET] = holding(CommandTable::reset);
        HANDLERS[Command.REGION_WRITE_MULTI] = holding(RegionAccessHandlers::writeMulti);
        HANDLERS[Command.DEVICE_FEATURE] = holding(FeatureHandlers::feature);
        HANDLERS[Command.MIG_DATA_READ] = FeatureHandlers::readState;
        HANDLERS[Command.MIG_DATA_WRITE] = FeatureHandlers::writeState;
    }

    private static final CommandHandler HELD_WRITE = holding(RegionAccessHandlers::write);

    private CommandTable() {}

    /** The handler of a command, or null when there is none. */
    static CommandHandler of(int command) {
        return command < Command.LIMIT ? HANDLERS[command] : null;
    }

    /** A handler that may wait for the device's threads: none of them waits for the client meanwhile. */
    private static CommandHandler holding(CommandHandler handler) {
        return s -> {
            s.dma().hold();
            try {
                return handler.handle(s);
            } finally {
                s.dma().release();
            }
        };
    }

    /** A write to configuration space may end bus mastering or reset the function. */
    private static int write(Session s) {
        boolean config = s.in().bodyBytes() >= RegionMessages.ACCESS.size()
                && s.in().u32(RegionMessages.REGION) == Region.CONFIG;
        return config ? HELD_WRITE.handle(s) : RegionAccessHandlers.write(s);
    }

    private static int reset(Session s) {
        s.device().reset(ResetKind.BUS);
        s.migration().reset();
        s.dma().reset();
        return 0;
    }
}
