// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/**
 * DEVICE_GET_REGION_IO_FDS: event descriptors by which a client may write to registers. When the request has no room for
 * them, the reply says how much it takes, and has no descriptors (as libvfio-user).
 */
final class IoFdsHandler implements CommandHandler {
    private static final int FIXED = DeviceMessages.IO_FDS.size();

    @Override
    public int handle(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED) {
            return -Errno.EINVAL;
        }
        int room = in.u32(DeviceMessages.IO_FDS_ARGSZ);
        int index = in.u32(DeviceMessages.IO_FDS_INDEX);
        if (in.u32(DeviceMessages.IO_FDS_FLAGS) != 0
                || in.u32(DeviceMessages.IO_FDS_COUNT) != 0
                || room < FIXED
                || room > Limits.MAX_DATA_XFER_SIZE
                || index < 0
                || index >= Region.COUNT
                || s.device().regionBytes(index) == 0) {
            return -Errno.EINVAL;
        }
        IoEventFds fds;
        try {
            fds = s.ioEvents(index);
        } catch (NativeException e) {
            return -e.errno();
        }
        int count = fds == null ? 0 : fds.events().size();
        boolean shadows = count > 0 && fds.file() != null;
        int entry = shadows ? DeviceMessages.SHADOW.size() : DeviceMessages.IOEVENTFD.size();
        int full = FIXED + count * entry;
        int reply = room < full ? FIXED : full;
        MemorySegment out = s.out().begin(reply);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_ARGSZ, full);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_FLAGS, 0);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_INDEX, index);
        out.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_COUNT, count);
        if (reply > FIXED) {
            for (int i = 0; i < count; i++) {
                entry(out.asSlice(Header.BYTES + FIXED + (long) i * entry, entry), fds, i, shadows);
                s.replyWith(fds.fd(i).fd().value());
            }
            if (shadows) {
                s.replyWith(fds.file().value());
            }
        }
        return reply;
    }

    private static void entry(MemorySegment to, IoEventFds fds, int i, boolean shadows) {
        IoEvent e = fds.events().get(i);
        to.fill((byte) 0);
        to.set(Wire.U64, DeviceMessages.IOEVENTFD_OFFSET, e.offset());
        to.set(Wire.U64, DeviceMessages.IOEVENTFD_SIZE, e.width());
        to.set(Wire.U32, DeviceMessages.IOEVENTFD_FD, i);
        to.set(
                Wire.U32,
                DeviceMessages.IOEVENTFD_TYPE,
                e.shadow() ? DeviceMessages.TYPE_IOEVENTFD_SHADOW : DeviceMessages.TYPE_IOEVENTFD);
        to.set(Wire.U32, DeviceMessages.IOEVENTFD_FLAGS, e.match().isPresent() ? DeviceMessages.FLAG_MATCH : 0);
        if (e.shadow()) {
            to.set(Wire.U32, DeviceMessages.SHADOW_FD, fds.events().size());
            to.set(Wire.U64, DeviceMessages.SHADOW_OFFSET, IoEventFds.fileOffset(i));
        }
        to.set(
                Wire.U64,
                shadows ? DeviceMessages.SHADOW_MATCH : DeviceMessages.IOEVENTFD_MATCH,
                e.match().orElse(0));
    }
}
