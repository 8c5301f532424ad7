// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.protocol.DeviceState;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.RegionMessages;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/** REGION_READ, REGION_WRITE and REGION_WRITE_MULTI: the register path. */
final class RegionAccessHandlers {
    private static final int FIXED = RegionMessages.ACCESS.size();

    private RegionAccessHandlers() {}

    static int read(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED) {
            return -Errno.EINVAL;
        }
        long offset = in.u64(RegionMessages.OFFSET);
        int region = in.u32(RegionMessages.REGION);
        int count = in.u32(RegionMessages.COUNT);
        if (!valid(s, region, offset, count) || count > s.client().maxDataXferSize()) {
            return -Errno.EINVAL;
        }
        MemorySegment out = s.out().begin(FIXED + count);
        access(out, offset, region, count);
        if (region == Region.CONFIG) {
            s.device().readConfig((int) offset, count, out, Header.BYTES + FIXED);
        } else if (count > 0) {
            s.device().bar(region).read(offset, count, out, Header.BYTES + FIXED);
        }
        return FIXED + count;
    }

    static int write(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED) {
            return -Errno.EINVAL;
        }
        long offset = in.u64(RegionMessages.OFFSET);
        int region = in.u32(RegionMessages.REGION);
        int count = in.u32(RegionMessages.COUNT);
        if (in.bodyBytes() - FIXED != count || !valid(s, region, offset, count)) {
            return -Errno.EINVAL;
        }
        int error = write(s, region, offset, count, in.bodyStart() + FIXED);
        if (error != 0) {
            return error;
        }
        access(s.out().begin(FIXED), offset, region, count);
        return FIXED;
    }

    /** All writes up to the first bad one; that one decides the answer. */
    static int writeMulti(Session s) {
        MessageReader in = s.in();
        int fixed = RegionMessages.MULTI.size();
        int entry = RegionMessages.MULTI_WRITE.size();
        if (in.bodyBytes() < fixed) {
            return -Errno.EINVAL;
        }
        long writes = in.u64(RegionMessages.MULTI_COUNT);
        if (writes < 0 || writes > Limits.MAX_DATA_XFER_SIZE / entry || in.bodyBytes() - fixed != writes * entry) {
            return -Errno.EINVAL;
        }
        for (int i = 0; i < writes; i++) {
            int at = fixed + i * entry;
            long offset = in.u64(at + RegionMessages.MULTI_WRITE_OFFSET);
            int region = in.u32(at + RegionMessages.MULTI_WRITE_REGION);
            int count = in.u32(at + RegionMessages.MULTI_WRITE_BYTES);
            if (count > RegionMessages.MULTI_WRITE.field("data").bytes() || !valid(s, region, offset, count)) {
                return -Errno.EINVAL;
            }
            int error = write(s, region, offset, count, in.bodyStart() + at + RegionMessages.MULTI_WRITE_DATA);
            if (error != 0) {
                return error;
            }
        }
        s.out().begin(fixed).set(Wire.U64, Header.BYTES + RegionMessages.MULTI_COUNT, writes);
        return fixed;
    }

    /** The one check of all accesses: an existing region, the whole range inside it, a device that can be accessed. */
    private static boolean valid(Session s, int region, long offset, int count) {
        if (region < 0 || region >= Region.COUNT || count < 0 || count > Limits.MAX_DATA_XFER_SIZE) {
            return false;
        }
        long bytes = s.device().regionBytes(region);
        return offset >= 0
                && count <= bytes
                && offset <= bytes - count
                && s.migration().state() != DeviceState.STOP_COPY;
    }

    private static int write(Session s, int region, long offset, int count, int at) {
        if (region == Region.CONFIG) {
            s.device().config().write((int) offset, s.in().memory(), at, count);
        } else if (count > 0) {
            if (!s.migration().state().running()) {
                return -Errno.EINVAL;
            }
            s.device().bar(region).write(offset, count, s.in().memory(), at);
        }
        return 0;
    }

    private static void access(MemorySegment out, long offset, int region, int count) {
        out.set(Wire.U64, Header.BYTES + RegionMessages.OFFSET, offset);
        out.set(Wire.U32, Header.BYTES + RegionMessages.REGION, region);
        out.set(Wire.U32, Header.BYTES + RegionMessages.COUNT, count);
    }
}
