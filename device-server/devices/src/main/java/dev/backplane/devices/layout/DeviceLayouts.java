// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.layout;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.agg.AggStatistics;
import dev.backplane.devices.agg.QueueIndices;
import dev.backplane.devices.agg.QueueRegisters;
import dev.backplane.devices.agg.ReceiveCompletion;
import dev.backplane.devices.agg.ReceiveDescriptor;
import dev.backplane.devices.agg.TransmitCompletion;
import dev.backplane.devices.agg.TransmitDescriptor;
import dev.backplane.devices.imm.Action;
import dev.backplane.devices.imm.AdminCommand;
import dev.backplane.devices.imm.Completion;
import dev.backplane.devices.imm.ContextPage;
import dev.backplane.devices.imm.ElementHeader;
import dev.backplane.devices.imm.ImmRegisters;
import dev.backplane.devices.imm.ImmStatistics;
import dev.backplane.devices.imm.LifePage;
import dev.backplane.devices.imm.RingHeader;
import dev.backplane.vfiouser.layout.CHeader;
import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.MarkdownTable;
import dev.backplane.vfiouser.layout.Struct;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** All layouts that the devices share with a driver, and the program that writes them down for C and for readers. */
public final class DeviceLayouts {
    /** The C header, from the project's root. */
    public static final Path HEADER = Path.of("guest-driver/include/backplane_layout.h");
    /** The tables, from the project's root. */
    public static final Path TABLES = Path.of("device-server/devices/REGISTERS.md");

    private static final String ORIGIN = "From the Java declarations, by ci/layouts";

    private static final List<Constants> CONSTANTS = List.of(
            PciIds.CONSTANTS,
            AggRegisters.CONSTANTS,
            QueueRegisters.CONSTANTS,
            TransmitDescriptor.CONSTANTS,
            TransmitCompletion.CONSTANTS,
            ReceiveCompletion.CONSTANTS,
            ImmRegisters.CONSTANTS,
            AdminCommand.CONSTANTS,
            ContextPage.CONSTANTS,
            LifePage.CONSTANTS,
            Action.CONSTANTS,
            Completion.CONSTANTS,
            RingHeader.CONSTANTS,
            ElementHeader.CONSTANTS);

    private static final List<Struct> STRUCTS = List.of(
            AggRegisters.LAYOUT,
            QueueRegisters.LAYOUT,
            AggStatistics.LAYOUT,
            QueueIndices.LAYOUT,
            TransmitDescriptor.LAYOUT,
            TransmitCompletion.LAYOUT,
            ReceiveDescriptor.LAYOUT,
            ReceiveCompletion.LAYOUT,
            ImmRegisters.LAYOUT,
            ImmStatistics.LAYOUT,
            AdminCommand.LAYOUT,
            Action.LAYOUT,
            Completion.LAYOUT,
            ContextPage.LAYOUT,
            LifePage.LAYOUT,
            RingHeader.LAYOUT,
            ElementHeader.LAYOUT);

    private DeviceLayouts() {}

    /** The C header's text. */
    public static String header() {
        return CHeader.print("BACKPLANE_LAYOUT_H", ORIGIN + ".", CONSTANTS, STRUCTS);
    }

    /** The Markdown tables' text. */
    public static String tables() {
        StringBuilder out = new StringBuilder();
        out.append("# Registers, descriptors and rings\n\n");
        out.append(ORIGIN)
                .append("; do not edit. Little-endian throughout; a driver writes reserved fields as zero.\n");
        out.append("Registers take naturally aligned accesses of 4 bytes, those of 8 bytes also of 8.\n");
        out.append("In shared memory every word has one writer, named in the table.\n\n");
        out.append("## Layouts\n\n");
        STRUCTS.forEach(s -> out.append(MarkdownTable.print(s)));
        out.append("## Constants\n\n");
        CONSTANTS.forEach(c -> out.append(MarkdownTable.print(c)));
        return out.toString();
    }

    /** Writes both files below the project's root, which is the one argument. */
    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: DeviceLayouts PROJECT_ROOT");
            System.exit(2);
        }
        Path root = Path.of(args[0]);
        Files.createDirectories(root.resolve(HEADER).getParent());
        Files.writeString(root.resolve(HEADER), header());
        Files.writeString(root.resolve(TABLES), tables());
    }
}
