// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.interrupt.InterruptController;
import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Struct;
import dev.backplane.vfiouser.pci.ConfigSpace;
import dev.backplane.vfiouser.pci.MsixTable;
import dev.backplane.vfiouser.pci.PciFunction;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/**
 * The saved state of a device as the client carries it: a header, then configuration space, interrupts and MSI-X table,
 * which the library keeps, then the device's own block. All of it is checked when it comes back.
 */
final class SavedState {
    private static final Struct HEADER = Struct.memory("backplane_saved_state", "Before the saved state of a device.")
            .u32("magic", Access.RW, "BPSS.")
            .u32("version", Access.RW, "1.")
            .u16("vendor_id", Access.RW, "Of the function.")
            .u16("device_id", Access.RW, "Of the function.")
            .u32("vectors", Access.RW, "Number of MSI-X vectors.")
            .u64("device_bytes", Access.RW, "Size of the device's own block.")
            .size(24);

    private static final int MAGIC = 0x53535042;
    private static final int VERSION = 1;
    private static final int MAGIC_AT = HEADER.offset("magic");
    private static final int VERSION_AT = HEADER.offset("version");
    private static final int VENDOR_AT = HEADER.offset("vendor_id");
    private static final int DEVICE_AT = HEADER.offset("device_id");
    private static final int VECTORS_AT = HEADER.offset("vectors");
    private static final int BYTES_AT = HEADER.offset("device_bytes");

    private SavedState() {}

    private static long surroundings(ServedDevice d) {
        MsixTable table = d.msixTable();
        return (long) HEADER.size()
                + ConfigSpace.BYTES
                + d.controller().stateBytes()
                + (table == null ? 0 : table.stateBytes());
    }

    /** The state of a stopped device. */
    static MemorySegment save(ServedDevice d) {
        Migratable device = d.migratable();
        PciFunction f = d.function();
        long own = device.stateBytes();
        long fixed = surroundings(d);
        MemorySegment s = MemorySegment.ofArray(new byte[Math.toIntExact(fixed + own)]);
        s.set(Wire.U32, MAGIC_AT, MAGIC);
        s.set(Wire.U32, VERSION_AT, VERSION);
        s.set(Wire.U16, VENDOR_AT, (short) f.vendorId());
        s.set(Wire.U16, DEVICE_AT, (short) f.deviceId());
        s.set(Wire.U32, VECTORS_AT, f.msix() == null ? 0 : f.msix().vectors());
        s.set(Wire.U64, BYTES_AT, own);
        long at = HEADER.size();
        d.config().save(s, at);
        at += ConfigSpace.BYTES;
        InterruptController interrupts = d.controller();
        interrupts.save(s, at);
        at += interrupts.stateBytes();
        if (d.msixTable() != null) {
            d.msixTable().save(s, at);
        }
        device.save(s.asSlice(fixed, own));
        return s;
    }

    /**
     * Replaces the state of a stopped device; a bad state leaves it reset.
     *
     * @throws IllegalArgumentException when the state is not one of this device
     */
    static void restore(ServedDevice d, MemorySegment s) {
        try {
            PciFunction f = d.function();
            long fixed = surroundings(d);
            int vectors = f.msix() == null ? 0 : f.msix().vectors();
            require(s.byteSize() >= fixed, "it is too short");
            require(s.get(Wire.U32, MAGIC_AT) == MAGIC, "it does not start as one");
            require(s.get(Wire.U32, VERSION_AT) == VERSION, "it is of another version");
            require(
                    (s.get(Wire.U16, VENDOR_AT) & 0xffff) == f.vendorId()
                            && (s.get(Wire.U16, DEVICE_AT) & 0xffff) == f.deviceId(),
                    "it is another device's");
            require(s.get(Wire.U32, VECTORS_AT) == vectors, "the number of vectors differs");
            require(s.get(Wire.U64, BYTES_AT) == s.byteSize() - fixed, "it is cut short or too long");
            long at = HEADER.size();
            d.config().restore(s, at);
            at += ConfigSpace.BYTES;
            d.controller().restore(s, at);
            at += d.controller().stateBytes();
            if (d.msixTable() != null) {
                d.msixTable().restore(s, at);
            }
            d.migratable().restore(s.asSlice(fixed));
            d.controlChanged();
        } catch (IllegalArgumentException e) {
            d.reset(ResetKind.BUS);
            throw e;
        }
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalArgumentException("saved state: " + what);
        }
    }
}
