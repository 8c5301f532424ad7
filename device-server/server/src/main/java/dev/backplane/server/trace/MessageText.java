// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.DmaMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.IrqMessages;
import dev.backplane.vfiouser.protocol.RegionMessages;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** The payload of a message, field by field. What is cut off or too short shows as 0. */
final class MessageText {
    /** Most bytes of data that a line shows. */
    private static final int MAX_DATA = 32;

    private static final String[] REGIONS = {
        "BAR0", "BAR1", "BAR2", "BAR3", "BAR4", "BAR5", "ROM", "config", "VGA", "migration"
    };
    private static final String[] INTERRUPTS = {"INTx", "MSI", "MSI-X", "ERR", "REQ"};

    private MessageText() {}

    /** Appends {@code  name=value} for each field. */
    static void append(StringBuilder line, TracedMessage m) {
        if (m.size() <= Header.BYTES) {
            return;
        }
        switch (m.command()) {
            case Command.VERSION -> version(line, m);
            case Command.DMA_MAP ->
                line.append(" address=")
                        .append(hex(m, DmaMessages.MAP_ADDRESS))
                        .append(" size=")
                        .append(hex(m, DmaMessages.MAP_SIZE))
                        .append(" offset=")
                        .append(hex(m, DmaMessages.MAP_OFFSET))
                        .append(" flags=")
                        .append(hex32(m, DmaMessages.MAP_FLAGS));
            case Command.DMA_UNMAP ->
                line.append(" address=")
                        .append(hex(m, DmaMessages.UNMAP_ADDRESS))
                        .append(" size=")
                        .append(hex(m, DmaMessages.UNMAP_SIZE))
                        .append(" flags=")
                        .append(hex32(m, DmaMessages.UNMAP_FLAGS));
            case Command.DEVICE_GET_INFO ->
                line.append(" regions=")
                        .append(m.u32(at(DeviceMessages.INFO_REGIONS)))
                        .append(" irqs=")
                        .append(m.u32(at(DeviceMessages.INFO_IRQS)));
            case Command.DEVICE_GET_REGION_INFO ->
                line.append(' ')
                        .append(name(REGIONS, m.u32(at(DeviceMessages.REGION_INDEX))))
                        .append(" size=")
                        .append(hex(m, DeviceMessages.REGION_SIZE))
                        .append(" flags=")
                        .append(hex32(m, DeviceMessages.REGION_FLAGS));
            case Command.DEVICE_GET_REGION_IO_FDS ->
                line.append(' ')
                        .append(name(REGIONS, m.u32(at(DeviceMessages.IO_FDS_INDEX))))
                        .append(" count=")
                        .append(m.u32(at(DeviceMessages.IO_FDS_COUNT)));
            case Command.DEVICE_GET_IRQ_INFO ->
                line.append(' ')
                        .append(name(INTERRUPTS, m.u32(at(IrqMessages.INFO_INDEX))))
                        .append(" count=")
                        .append(m.u32(at(IrqMessages.INFO_COUNT)));
            case Command.DEVICE_SET_IRQS ->
                line.append(' ')
                        .append(name(INTERRUPTS, m.u32(at(IrqMessages.SET_INDEX))))
                        .append(" flags=")
                        .append(hex32(m, IrqMessages.SET_FLAGS))
                        .append(" start=")
                        .append(m.u32(at(IrqMessages.SET_START)))
                        .append(" count=")
                        .append(m.u32(at(IrqMessages.SET_COUNT)));
            case Command.REGION_READ, Command.REGION_WRITE -> {
                line.append(' ')
                        .append(name(REGIONS, m.u32(at(RegionMessages.REGION))))
                        .append('+')
                        .append(hex(m, RegionMessages.OFFSET))
                        .append(" count=")
                        .append(m.u32(at(RegionMessages.COUNT)));
                data(line, m, at(RegionMessages.DATA));
            }
            case Command.DMA_READ, Command.DMA_WRITE ->
                line.append(" address=")
                        .append(hex(m, DmaMessages.ACCESS_ADDRESS))
                        .append(" count=")
                        .append(hex32(m, DmaMessages.ACCESS_COUNT));
            case Command.REGION_WRITE_MULTI -> line.append(" writes=").append(m.u64(at(RegionMessages.MULTI_COUNT)));
            default -> data(line, m, Header.BYTES);
        }
    }

    private static void version(StringBuilder line, TracedMessage m) {
        line.append(' ')
                .append(m.u16(at(DeviceMessages.VERSION_MAJOR)))
                .append('.')
                .append(m.u16(at(DeviceMessages.VERSION_MINOR)));
        String json = new String(m.slice(at(DeviceMessages.VERSION.size()), m.size()), StandardCharsets.UTF_8);
        // The text is the peer's: nothing that a terminal would act on gets through.
        line.append(' ').append(json.replaceAll("\\p{Cntrl}", ""));
    }

    private static void data(StringBuilder line, TracedMessage m, int at) {
        int bytes = m.size() - at;
        if (bytes <= 0) {
            return;
        }
        switch (bytes) {
            case 1 -> value(line, m.u8(at));
            case 2 -> value(line, m.u16(at));
            case 4 -> value(line, m.u32(at));
            case 8 -> value(line, m.u64(at));
            default -> {
                line.append(" data=").append(HexFormat.of().formatHex(m.slice(at, Math.min(bytes, MAX_DATA))));
                line.append(bytes > MAX_DATA ? "…" : "");
            }
        }
    }

    private static void value(StringBuilder line, long value) {
        line.append(" value=0x").append(Long.toHexString(value));
    }

    private static int at(int offset) {
        return Header.BYTES + offset;
    }

    private static String hex(TracedMessage m, int offset) {
        return "0x" + Long.toHexString(m.u64(at(offset)));
    }

    private static String hex32(TracedMessage m, int offset) {
        return "0x" + Long.toHexString(m.u32(at(offset)));
    }

    private static String name(String[] names, long index) {
        return index < names.length ? names[(int) index] : "index " + index;
    }
}
