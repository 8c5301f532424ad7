// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The capabilities of a configuration space in words, those of {@code lspci -vvv} where it has any. Numbers and layouts
 * are those of PCIe 6.2, chapter 7.
 */
final class CapabilityText {
    private static final int STATUS = 6;
    private static final int STATUS_CAPABILITIES = 0x10;
    private static final int POINTER = 0x34;
    private static final int EXTENDED = 0x100;

    private static final int POWER_MANAGEMENT = 0x01;
    private static final int MSI = 0x05;
    private static final int VENDOR = 0x09;
    private static final int EXPRESS = 0x10;
    private static final int MSIX = 0x11;

    private static final String[] PORT_TYPES = {
        "Endpoint",
        "Legacy Endpoint",
        "type 2",
        "type 3",
        "Root Port",
        "Upstream Port",
        "Downstream Port",
        "PCI-Express to PCI/PCI-X Bridge",
        "PCI/PCI-X to PCI-Express Bridge",
        "Root Complex Integrated Endpoint",
        "Root Complex Event Collector"
    };

    private final ConfigSpace config;
    private final Consumer<String> out;

    CapabilityText(ConfigSpace config, Consumer<String> out) {
        this.config = config;
        this.out = out;
    }

    /** Follows both lists; each place once, so that a list that bites its tail ends. */
    void render() {
        Set<Integer> seen = new HashSet<>();
        int at = (config.u16(STATUS) & STATUS_CAPABILITIES) != 0 ? config.u8(POINTER) & ~3 : 0;
        while (at != 0) {
            if (!seen.add(at)) {
                out.accept("Capabilities: <chain looped>");
                break;
            }
            capability(at);
            at = config.u8(at + 1) & ~3;
        }
        at = config.bytes() > EXTENDED ? EXTENDED : 0;
        while (at >= EXTENDED && config.u32(at) != 0) {
            if (!seen.add(at)) {
                out.accept("Capabilities: <chain looped>");
                break;
            }
            extended(at);
            at = (config.u32(at) >>> 20) & ~3;
        }
    }

    private void capability(int at) {
        switch (config.u8(at)) {
            case POWER_MANAGEMENT -> powerManagement(at);
            case MSI -> msi(at);
            case VENDOR ->
                out.accept("Capabilities: [%02x] Vendor Specific Information: Len=%02x <?>"
                        .formatted(at, config.u8(at + 2)));
            case EXPRESS -> express(at);
            case MSIX -> msix(at);
            default -> out.accept("Capabilities: [%02x] #%02x".formatted(at, config.u8(at)));
        }
    }

    private void powerManagement(int at) {
        int pmc = config.u16(at + 2);
        int csr = config.u16(at + 4);
        out.accept("Capabilities: [%02x] Power Management version %d".formatted(at, pmc & 7));
        out.accept("\tStatus: D%d NoSoftRst%s".formatted(csr & 3, sign(csr, 3)));
    }

    private void msi(int at) {
        int control = config.u16(at + 2);
        out.accept("Capabilities: [%02x] MSI: Enable%s Count=%d/%d Maskable%s 64bit%s"
                .formatted(
                        at,
                        sign(control, 0),
                        1 << ((control >> 4) & 7),
                        1 << ((control >> 1) & 7),
                        sign(control, 8),
                        sign(control, 7)));
    }

    private void express(int at) {
        int flags = config.u16(at + 2);
        int type = (flags >> 4) & 0xf;
        out.accept("Capabilities: [%02x] Express (v%d) %s, MSI %02x"
                .formatted(
                        at,
                        flags & 0xf,
                        type < PORT_TYPES.length ? PORT_TYPES[type] : "type " + type,
                        (flags >> 9) & 0x1f));
        int capabilities = config.u32(at + 4);
        int control = config.u16(at + 8);
        out.accept("\tDevCap: MaxPayload %d bytes, FLReset%s; MaxReadReq %d bytes"
                .formatted(128 << (capabilities & 7), sign(capabilities, 28), 128 << ((control >> 12) & 7)));
        int link = config.u16(at + 0x12);
        out.accept("\tLnkSta: Speed %s, Width x%d".formatted(speed(link & 0xf), (link >> 4) & 0x3f));
    }

    private void msix(int at) {
        int control = config.u16(at + 2);
        int table = config.u32(at + 4);
        int pending = config.u32(at + 8);
        out.accept("Capabilities: [%02x] MSI-X: Enable%s Count=%d Masked%s"
                .formatted(at, sign(control, 15), (control & 0x7ff) + 1, sign(control, 14)));
        out.accept("\tVector table: BAR=%d offset=%08x".formatted(table & 7, table & ~7));
        out.accept("\tPBA: BAR=%d offset=%08x".formatted(pending & 7, pending & ~7));
    }

    private void extended(int at) {
        int id = config.u32(at) & 0xffff;
        int version = (config.u32(at) >>> 16) & 0xf;
        switch (id) {
            case 0x0001 -> out.accept("Capabilities: [%03x v%d] Advanced Error Reporting".formatted(at, version));
            case 0x0003 ->
                out.accept("Capabilities: [%03x v%d] Device Serial Number %s"
                        .formatted(at, version, serial(config.u64(at + 4))));
            case 0x000b -> out.accept("Capabilities: [%03x v%d] Vendor Specific Information".formatted(at, version));
            default -> out.accept("Capabilities: [%03x v%d] Extended Capability ID %#x".formatted(at, version, id));
        }
    }

    private static String serial(long number) {
        StringBuilder text = new StringBuilder();
        for (int shift = 56; shift >= 0; shift -= 8) {
            text.append(String.format(shift == 56 ? "%02x" : "-%02x", (number >>> shift) & 0xff));
        }
        return text.toString();
    }

    private static String speed(int code) {
        String[] gigatransfers = {"unknown", "2.5GT/s", "5GT/s", "8GT/s", "16GT/s", "32GT/s", "64GT/s"};
        return code < gigatransfers.length ? gigatransfers[code] : "unknown";
    }

    private static String sign(int value, int bit) {
        return (value & (1 << bit)) != 0 ? "+" : "-";
    }
}
