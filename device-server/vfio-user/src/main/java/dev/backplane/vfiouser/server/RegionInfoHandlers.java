// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** DEVICE_GET_REGION_INFO. */
final class RegionInfoHandlers {
    private static final int FIXED = DeviceMessages.REGION.size();

    private RegionInfoHandlers() {}

    /**
     * A region with its mappable areas and the one file behind them. When the request has no room for the areas, they and
     * the file are left out and the reply says how much room it takes: a client such as QEMU then asks again, and fails
     * on a capability that it is told of but does not get.
     */
    static int info(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED) {
            return -Errno.EINVAL;
        }
        int room = in.u32(DeviceMessages.REGION_ARGSZ);
        int index = in.u32(DeviceMessages.REGION_INDEX);
        if (Integer.compareUnsigned(room, FIXED) < 0 || index < 0 || index >= Region.COUNT) {
            return -Errno.EINVAL;
        }
        long bytes = s.device().regionBytes(index);
        BarRegion bar = s.device().bar(index);
        MappedBar mapped = bar == null || s.client().maxMsgFds() == 0 ? null : bar.mapped();
        List<Bar.Area> areas = mapped == null ? List.of() : bar.areas();
        int flags = bytes == 0 ? 0 : DeviceMessages.REGION_READ | DeviceMessages.REGION_WRITE;
        int full = FIXED;
        if (mapped != null) {
            flags |= DeviceMessages.REGION_MMAP;
            if (areas.size() != 1 || areas.getFirst().bytes() != bytes) {
                full += DeviceMessages.SPARSE.size() + areas.size() * DeviceMessages.AREA.size();
            }
        }
        boolean fits = Integer.compareUnsigned(room, full) >= 0;
        int reply = fits ? full : FIXED;
        MemorySegment out = s.out().begin(reply);
        boolean sparse = reply > FIXED;
        if (sparse) {
            flags |= DeviceMessages.REGION_CAPS;
            areas(out, areas);
        }
        if (mapped != null && fits) {
            s.replyWith(mapped.fd());
        }
        out.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_ARGSZ, full);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_FLAGS, flags);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_INDEX, index);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_CAP_OFFSET, sparse ? FIXED : 0);
        out.set(Wire.U64, Header.BYTES + DeviceMessages.REGION_SIZE, bytes);
        out.set(Wire.U64, Header.BYTES + DeviceMessages.REGION_OFFSET, 0);
        return reply;
    }

    private static void areas(MemorySegment out, List<Bar.Area> areas) {
        long at = (long) Header.BYTES + FIXED;
        out.set(Wire.U16, at + DeviceMessages.SPARSE_ID, (short) DeviceMessages.CAP_SPARSE_MMAP);
        out.set(Wire.U16, at + DeviceMessages.SPARSE_VERSION, (short) 1);
        out.set(Wire.U32, at + DeviceMessages.SPARSE_NEXT, 0);
        out.set(Wire.U32, at + DeviceMessages.SPARSE_AREAS, areas.size());
        out.set(Wire.U32, at + DeviceMessages.SPARSE.offset("reserved"), 0);
        at += DeviceMessages.SPARSE.size();
        for (Bar.Area a : areas) {
            out.set(Wire.U64, at + DeviceMessages.AREA_OFFSET, a.offset());
            out.set(Wire.U64, at + DeviceMessages.AREA_SIZE, a.bytes());
            at += DeviceMessages.AREA.size();
        }
    }
}
