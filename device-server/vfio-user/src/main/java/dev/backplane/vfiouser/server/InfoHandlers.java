// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.interrupt.InterruptController.Kind;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.IrqMessages;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/** DEVICE_GET_INFO and DEVICE_GET_IRQ_INFO: replies of fixed size, for which the request must have room. */
final class InfoHandlers {
    private InfoHandlers() {}

    static int device(Session s) {
        MessageReader in = s.in();
        int bytes = DeviceMessages.INFO.size();
        if (in.bodyBytes() < bytes || Integer.compareUnsigned(in.u32(DeviceMessages.INFO_ARGSZ), bytes) < 0) {
            return -Errno.EINVAL;
        }
        MemorySegment out = s.out().begin(bytes);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.INFO_ARGSZ, bytes);
        out.set(
                Wire.U32,
                Header.BYTES + DeviceMessages.INFO_FLAGS,
                DeviceMessages.INFO_RESET | DeviceMessages.INFO_PCI);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.INFO_REGIONS, Region.COUNT);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.INFO_IRQS, Region.IRQ_COUNT);
        return bytes;
    }

    static int irq(Session s) {
        MessageReader in = s.in();
        int bytes = IrqMessages.INFO.size();
        if (in.bodyBytes() < bytes || Integer.compareUnsigned(in.u32(IrqMessages.INFO_ARGSZ), bytes) < 0) {
            return -Errno.EINVAL;
        }
        int index = in.u32(IrqMessages.INFO_INDEX);
        if (index < 0 || index >= Region.IRQ_COUNT) {
            return -Errno.EINVAL;
        }
        int flags = IrqMessages.INFO_EVENTFD;
        if (index == Region.IRQ_INTX) {
            flags |= IrqMessages.INFO_MASKABLE | IrqMessages.INFO_AUTOMASKED;
        }
        Kind kind = kind(index);
        MemorySegment out = s.out().begin(bytes);
        out.set(Wire.U32, Header.BYTES + IrqMessages.INFO_ARGSZ, bytes);
        out.set(Wire.U32, Header.BYTES + IrqMessages.INFO_FLAGS, flags);
        out.set(Wire.U32, Header.BYTES + IrqMessages.INFO_INDEX, index);
        out.set(
                Wire.U32,
                Header.BYTES + IrqMessages.INFO_COUNT,
                kind == null ? 0 : s.device().controller().count(kind));
        return bytes;
    }

    /** The kind of interrupt of an index; null for MSI, which no device here has. */
    static Kind kind(int index) {
        return switch (index) {
            case Region.IRQ_INTX -> Kind.INTX;
            case Region.IRQ_MSIX -> Kind.MSIX;
            case Region.IRQ_ERR -> Kind.ERROR;
            case Region.IRQ_REQ -> Kind.REQUEST;
            default -> null;
        };
    }
}
