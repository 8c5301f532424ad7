// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

/**
 * Where the registers of the configuration space are, what they hold after power-on and which bits software can write.
 * Sections are those of the PCI Express Base Specification 6.2.
 */
final class ConfigLayout {
    // Type 0 header (7.5.1).
    static final int VENDOR = 0x00;
    static final int DEVICE = 0x02;
    static final int COMMAND = 0x04;
    static final int STATUS = 0x06;
    static final int REVISION = 0x08;
    static final int CLASS_CODE = 0x09;
    static final int CACHE_LINE_SIZE = 0x0c;
    static final int BAR0 = 0x10;
    static final int SUBSYSTEM_VENDOR = 0x2c;
    static final int SUBSYSTEM = 0x2e;
    static final int CAPABILITIES = 0x34;
    static final int INTERRUPT_LINE = 0x3c;
    static final int INTERRUPT_PIN = 0x3d;

    static final int COMMAND_MEMORY = 1 << 1;
    static final int COMMAND_BUS_MASTER = 1 << 2;
    static final int COMMAND_PARITY = 1 << 6;
    static final int COMMAND_SERR = 1 << 8;
    static final int COMMAND_INTX_DISABLE = 1 << 10;
    static final int STATUS_INTERRUPT = 1 << 3;
    static final int STATUS_CAPABILITIES = 1 << 4;
    private static final int BAR_MEMORY_64 = 0x4;
    private static final int BAR_PREFETCHABLE = 0x8;

    /** Power management (7.5.2). */
    static final int PM = 0x40;

    static final int PM_STATE = 0x3;
    private static final int PM_ID = 0x01;
    private static final int PM_VERSION = 3;
    private static final int PM_NO_SOFT_RESET = 1 << 3;

    /** MSI-X (7.7.2). */
    static final int MSIX = 0x50;

    static final int MSIX_FUNCTION_MASK = 1 << 14;
    static final int MSIX_ENABLE = 1 << 15;
    private static final int MSIX_ID = 0x11;

    /** PCI Express (7.5.3). */
    static final int EXPRESS = 0x60;

    static final int DEVICE_CONTROL = EXPRESS + 0x08;

    /** Initiate Function Level Reset, bit 15 of device control, in its upper byte. Reads as 0. */
    static final int INITIATE_FLR_HIGH = 0x80;

    private static final int EXPRESS_ID = 0x10;
    private static final int EXPRESS_VERSION = 2;
    private static final int ROLE_BASED_ERRORS = 1 << 15;
    private static final int FLR_CAPABLE = 1 << 28;

    /** After power-on: relaxed ordering and no snoop enabled, read requests of 512 bytes. */
    private static final int DEVICE_CONTROL_INITIAL = 0x2810;

    private static final int DEVICE_CONTROL_WRITABLE = 0x78ff;
    private static final int DEVICE_STATUS_CLEARABLE = 0x000f;

    /** 16 GT/s, 8 lanes: a nominal link, nothing depends on it. */
    private static final int SPEED = 4;

    private static final int WIDTH = 8;
    private static final int ASPM_OPTIONALITY = 1 << 22;
    private static final int LINK_CONTROL_WRITABLE = 0x00cb;
    private static final int TIMEOUT_DISABLE = 1 << 4;

    private final byte[] values = new byte[ConfigSpace.BYTES];
    private final byte[] writable = new byte[ConfigSpace.BYTES];
    private final byte[] clearable = new byte[ConfigSpace.BYTES];

    ConfigLayout(PciFunction f) {
        header(f);
        powerManagement(f);
        if (f.msix() != null) {
            msix(f.msix());
        }
        express();
    }

    private void header(PciFunction f) {
        u16(VENDOR, f.vendorId(), 0);
        u16(DEVICE, f.deviceId(), 0);
        u16(COMMAND, 0, COMMAND_MEMORY | COMMAND_BUS_MASTER | COMMAND_PARITY | COMMAND_SERR | COMMAND_INTX_DISABLE);
        u16(STATUS, STATUS_CAPABILITIES, 0);
        u8(REVISION, f.revision(), 0);
        u8(CLASS_CODE, f.classCode(), 0);
        u16(CLASS_CODE + 1, f.classCode() >>> 8, 0);
        u8(CACHE_LINE_SIZE, 0, 0xff);
        for (Bar b : f.bars()) {
            int flags = BAR_MEMORY_64 | (b.prefetchable() ? BAR_PREFETCHABLE : 0);
            long address = -b.bytes();
            u32(BAR0 + 4 * b.index(), flags, (int) address);
            u32(BAR0 + 4 * b.index() + 4, 0, (int) (address >>> 32));
        }
        u16(SUBSYSTEM_VENDOR, f.subsystemVendorId(), 0);
        u16(SUBSYSTEM, f.subsystemId(), 0);
        u8(CAPABILITIES, PM, 0);
        u8(INTERRUPT_LINE, 0, 0xff);
        u8(INTERRUPT_PIN, f.pin() ? 1 : 0, 0);
    }

    private void powerManagement(PciFunction f) {
        u8(PM, PM_ID, 0);
        u8(PM + 1, f.msix() != null ? MSIX : EXPRESS, 0);
        u16(PM + 2, PM_VERSION, 0);
        u16(PM + 4, PM_NO_SOFT_RESET, PM_STATE);
    }

    private void msix(PciFunction.Msix m) {
        u8(MSIX, MSIX_ID, 0);
        u8(MSIX + 1, EXPRESS, 0);
        u16(MSIX + 2, m.vectors() - 1, MSIX_FUNCTION_MASK | MSIX_ENABLE);
        u32(MSIX + 4, (int) m.tableOffset() | m.bar(), 0);
        u32(MSIX + 8, (int) m.pbaOffset() | m.bar(), 0);
    }

    private void express() {
        u8(EXPRESS, EXPRESS_ID, 0);
        u16(EXPRESS + 0x02, EXPRESS_VERSION, 0);
        u32(EXPRESS + 0x04, ROLE_BASED_ERRORS | FLR_CAPABLE, 0);
        u16(DEVICE_CONTROL, DEVICE_CONTROL_INITIAL, DEVICE_CONTROL_WRITABLE);
        u16(EXPRESS + 0x0a, 0, 0);
        clearable[EXPRESS + 0x0a] = DEVICE_STATUS_CLEARABLE;
        u32(EXPRESS + 0x0c, SPEED | WIDTH << 4 | ASPM_OPTIONALITY, 0);
        u16(EXPRESS + 0x10, 0, LINK_CONTROL_WRITABLE);
        u16(EXPRESS + 0x12, SPEED | WIDTH << 4, 0);
        u32(EXPRESS + 0x24, TIMEOUT_DISABLE, 0);
        u16(EXPRESS + 0x28, 0, TIMEOUT_DISABLE);
        u32(EXPRESS + 0x2c, (1 << (SPEED + 1)) - 2, 0);
        u16(EXPRESS + 0x30, SPEED, 0xf);
    }

    private void u8(int offset, int value, int mask) {
        values[offset] = (byte) value;
        writable[offset] = (byte) mask;
    }

    private void u16(int offset, int value, int mask) {
        u8(offset, value, mask);
        u8(offset + 1, value >>> 8, mask >>> 8);
    }

    private void u32(int offset, int value, int mask) {
        u16(offset, value, mask);
        u16(offset + 2, value >>> 16, mask >>> 16);
    }

    byte[] values() {
        return values;
    }

    byte[] writable() {
        return writable;
    }

    byte[] clearable() {
        return clearable;
    }
}
