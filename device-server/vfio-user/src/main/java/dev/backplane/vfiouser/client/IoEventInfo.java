// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.FileStatus;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Asks for the ioeventfds of a region, and makes sense of the answer. */
final class IoEventInfo {
    private static final int FIXED = DeviceMessages.IO_FDS.size();
    private static final int MOST_BYTES = 1 << 16;

    private final ClientConnection connection;

    IoEventInfo(ClientConnection connection) {
        this.connection = connection;
    }

    /** @param arena for the mappings of the values' files */
    List<ClientIoEvent> of(int region, Arena arena) throws IOException {
        MessageReader reply = request(region, FIXED);
        int needed = reply.u32(DeviceMessages.IO_FDS_ARGSZ);
        if (needed <= FIXED || needed > MOST_BYTES) {
            return List.of();
        }
        reply = request(region, needed);
        int count = reply.u32(DeviceMessages.IO_FDS_COUNT);
        int entries = reply.bodyBytes() - FIXED;
        // The size of an entry is what the reply makes of it (specification), not a constant.
        if (count <= 0 || entries % count != 0 || entries / count < DeviceMessages.IOEVENTFD.size()) {
            throw new IOException(entries + " bytes for " + Integer.toUnsignedLong(count) + " sub-regions");
        }
        List<FileDescriptor> fds = new ArrayList<>();
        List<ClientIoEvent> events = new ArrayList<>();
        try {
            while (reply.fds() > 0) {
                fds.add(reply.takeFd());
            }
            Map<Integer, MemorySegment> files = new HashMap<>();
            for (int i = 0; i < count; i++) {
                events.add(event(region, reply, FIXED + i * (entries / count), entries / count, fds, files, arena));
            }
            return events;
        } catch (IOException | RuntimeException e) {
            events.forEach(ClientIoEvent::close);
            throw e;
        } finally {
            fds.forEach(FileDescriptor::close);
        }
    }

    private MessageReader request(int region, int room) throws IOException {
        MemorySegment o = connection.begin(FIXED);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_ARGSZ, room);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_FLAGS, 0);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_INDEX, region);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.IO_FDS_COUNT, 0);
        MessageReader reply = connection.call(Command.DEVICE_GET_REGION_IO_FDS, FIXED);
        if (reply.bodyBytes() < FIXED) {
            throw new IOException("ioeventfd information of " + reply.bodyBytes() + " bytes");
        }
        return reply;
    }

    private static ClientIoEvent event(
            int region,
            MessageReader in,
            int at,
            int bytes,
            List<FileDescriptor> fds,
            Map<Integer, MemorySegment> files,
            Arena arena)
            throws IOException {
        boolean large = bytes >= DeviceMessages.SHADOW.size();
        int type = in.u32(at + DeviceMessages.IOEVENTFD_TYPE);
        boolean shadowed = type == DeviceMessages.TYPE_IOEVENTFD_SHADOW && large;
        if (type != DeviceMessages.TYPE_IOEVENTFD && !shadowed) {
            throw new IOException("a sub-region of type " + type);
        }
        MemorySegment shadow = null;
        if (shadowed) {
            int file = in.u32(at + DeviceMessages.SHADOW_FD);
            if (!files.containsKey(file)) {
                FileDescriptor fd = descriptor(fds, file);
                long size = FileStatus.of(fd.value()).bytes();
                files.put(file, MemoryFile.map(fd.value(), 0, size, true, arena));
            }
            shadow = files.get(file).asSlice(in.u64(at + DeviceMessages.SHADOW_OFFSET), Long.BYTES);
        }
        boolean match = (in.u32(at + DeviceMessages.IOEVENTFD_FLAGS) & DeviceMessages.FLAG_MATCH) != 0;
        long value = in.u64(at + (large ? DeviceMessages.SHADOW_MATCH : DeviceMessages.IOEVENTFD_MATCH));
        return new ClientIoEvent(
                region,
                in.u64(at + DeviceMessages.IOEVENTFD_OFFSET),
                (int) in.u64(at + DeviceMessages.IOEVENTFD_SIZE),
                match ? OptionalLong.of(value) : OptionalLong.empty(),
                EventFd.of(descriptor(fds, in.u32(at + DeviceMessages.IOEVENTFD_FD))
                        .duplicate()),
                shadow);
    }

    private static FileDescriptor descriptor(List<FileDescriptor> fds, int index) throws IOException {
        if (index < 0 || index >= fds.size()) {
            throw new IOException("descriptor " + Integer.toUnsignedLong(index) + " of " + fds.size());
        }
        return fds.get(index);
    }
}
