// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.client.ClientInterrupts.IrqInfo;
import dev.backplane.vfiouser.pci.Bar;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Shows a device without a virtual machine: identity, BARs, capabilities, interrupts, and configuration space as {@code
 * lspci -xxxx} prints it, so that {@code lspci -F} reads the text. It only reads: no register is written, the sizes of
 * BARs come from the server.
 */
public final class Probe {
    private static final String SLOT = "00:00.0";
    private static final int LINE = 16;
    private static final int CONVENTIONAL_BYTES = 256;

    private static final String[] CONTROL = {
        "I/O",
        "Mem",
        "BusMaster",
        "SpecCycle",
        "MemWINV",
        "VGASnoop",
        "ParErr",
        "Stepping",
        "SERR",
        "FastB2B",
        "DisINTx"
    };

    private final VfioUserClient client;
    private final ConfigSpace config;
    private final StringBuilder out = new StringBuilder();

    private Probe(VfioUserClient client) throws IOException {
        this.client = client;
        this.config = read(client);
    }

    /** Connects to the server at {@code socket}, which must have no client, and describes its device. */
    public static String describe(Path socket) throws IOException {
        try (VfioUserClient client = VfioUserClient.connect(socket)) {
            return describe(client);
        }
    }

    /** Describes the device of a client. */
    public static String describe(VfioUserClient client) throws IOException {
        return new Probe(client).render();
    }

    private static ConfigSpace read(VfioUserClient client) throws IOException {
        long bytes = client.region(VfioUserClient.CONFIG).bytes();
        if (bytes < CONVENTIONAL_BYTES || bytes > ConfigSpace.MOST_BYTES) {
            throw new IOException("a configuration space of " + bytes + " bytes");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(bytes);
            client.read(VfioUserClient.CONFIG, 0, all);
            return new ConfigSpace(all.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private String render() throws IOException {
        identity();
        regions();
        interrupts();
        line("Protocol: version %d.%d, %d descriptors and %d bytes a message, %d windows"
                .formatted(
                        0,
                        client.minorVersion(),
                        client.server().maxMsgFds(),
                        client.server().maxDataXferSize(),
                        client.server().maxDmaMaps()));
        new CapabilityText(config, this::line).render();
        dump();
        return out.toString();
    }

    private void identity() throws IOException {
        out.append(String.format(
                "%s Class %04x: Device %04x:%04x (rev %02x)%n",
                SLOT, config.u16(0xa), config.u16(0), config.u16(2), config.u8(8)));
        line("Subsystem: Device %04x:%04x".formatted(config.u16(0x2c), config.u16(0x2e)));
        StringBuilder control = new StringBuilder("Control:");
        for (int i = 0; i < CONTROL.length; i++) {
            control.append(' ').append(CONTROL[i]).append(sign(config.u16(4), i));
        }
        line(control.toString());
        line("Status: Cap%c INTx%c".formatted(sign(config.u16(6), 4), sign(config.u16(6), 3)));
        line("Reset: %s".formatted(client.resettable() ? "by message" : "none"));
    }

    private void regions() throws IOException {
        int count = Math.min(client.regionCount(), VfioUserClient.CONFIG);
        for (int i = 0; i < count; i++) {
            ClientRegion r = client.region(i);
            if (r.bytes() > 0) {
                region(i, r);
            }
        }
    }

    private void region(int index, ClientRegion r) {
        String kind = "";
        if (index < 6) {
            int bar = config.u32(0x10 + 4 * index);
            long address = bar & ~0xfL;
            boolean wide = (bar & 6) == 4;
            if (wide && index < 5) {
                address = (address & 0xffff_ffffL) | ((long) config.u32(0x14 + 4 * index) << 32);
            }
            kind = String.format(
                    "Memory at %08x (%s-bit, %sprefetchable)",
                    address, wide ? "64" : "32", (bar & 8) != 0 ? "" : "non-");
        }
        line("Region %d: %s [size=%s]".formatted(index, kind, size(r.bytes())));
        for (Bar.Area a : r.areas()) {
            line("\tMappable: offset %08x [size=%s]".formatted(a.offset(), size(a.bytes())));
        }
    }

    private void interrupts() throws IOException {
        StringBuilder text = new StringBuilder("Interrupts:");
        for (IrqType type : IrqType.values()) {
            IrqInfo i = client.interrupts().info(type);
            if (i.count() > 0) {
                text.append(String.format(
                        " %s %d%s%s",
                        type, i.count(), i.maskable() ? " maskable" : "", i.automasked() ? " automasked" : ""));
                text.append(',');
            }
        }
        if (text.charAt(text.length() - 1) == ',') {
            text.setLength(text.length() - 1);
        }
        int pin = config.u8(0x3d);
        line("%s; pin %s".formatted(text, pin == 0 ? "none" : Character.toString('A' + pin - 1)));
    }

    /** Lines of 16 bytes, of the extended part only if it has anything. */
    private void dump() {
        int end = config.isZero(CONVENTIONAL_BYTES, config.bytes() - CONVENTIONAL_BYTES)
                ? CONVENTIONAL_BYTES
                : config.bytes();
        for (int at = 0; at < end; at += LINE) {
            out.append(String.format("%02x:", at));
            for (int i = 0; i < LINE; i++) {
                out.append(String.format(" %02x", config.u8(at + i)));
            }
            out.append('\n');
        }
        out.append('\n');
    }

    private void line(String text) {
        out.append('\t').append(text).append('\n');
    }

    private static char sign(int value, int bit) {
        return (value & (1 << bit)) != 0 ? '+' : '-';
    }

    private static String size(long bytes) {
        String[] units = {"", "K", "M", "G", "T"};
        int u = 0;
        long n = bytes;
        while (n >= 1024 && n % 1024 == 0 && u < units.length - 1) {
            n /= 1024;
            u++;
        }
        return n + units[u];
    }
}
