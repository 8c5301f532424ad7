// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.pci.Bar;
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

/** DEVICE_GET_REGION_INFO and its capability list, asked once for each region. */
final class RegionInfo {
    private static final int FIXED = DeviceMessages.REGION.size();
    private static final int MOST_BYTES = 1 << 16;

    private final ClientConnection connection;
    private final Map<Integer, ClientRegion> regions = new HashMap<>();

    RegionInfo(ClientConnection connection) {
        this.connection = connection;
    }

    ClientRegion of(int index) throws IOException {
        ClientRegion known = regions.get(index);
        if (known == null) {
            known = describe(index, ask(index));
            regions.put(index, known);
        }
        return known;
    }

    MemorySegment map(int index, int area, Arena arena) throws IOException {
        MessageReader reply = ask(index);
        ClientRegion region = describe(index, reply);
        if (area < 0 || area >= region.areas().size() || reply.fds() == 0) {
            throw new IllegalArgumentException("region " + index + " has no area " + area + " to map");
        }
        Bar.Area a = region.areas().get(area);
        long offset = reply.u64(DeviceMessages.REGION_OFFSET) + a.offset();
        try (FileDescriptor fd = reply.takeFd()) {
            return MemoryFile.map(fd.value(), offset, a.bytes(), region.writable(), arena);
        }
    }

    /** Asks, and once more when the answer needs more room than it was given. */
    private MessageReader ask(int index) throws IOException {
        MessageReader reply = request(index, FIXED);
        int needed = reply.u32(DeviceMessages.REGION_ARGSZ);
        return needed > FIXED && needed <= MOST_BYTES ? request(index, needed) : reply;
    }

    private MessageReader request(int index, int room) throws IOException {
        MemorySegment o = connection.begin(FIXED);
        o.asSlice(Header.BYTES, FIXED).fill((byte) 0);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_ARGSZ, room);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.REGION_INDEX, index);
        MessageReader reply = connection.call(Command.DEVICE_GET_REGION_INFO, FIXED);
        if (reply.bodyBytes() < FIXED) {
            throw new IOException("region information of " + reply.bodyBytes() + " bytes");
        }
        return reply;
    }

    private static ClientRegion describe(int index, MessageReader reply) throws IOException {
        int flags = reply.u32(DeviceMessages.REGION_FLAGS);
        long bytes = reply.u64(DeviceMessages.REGION_SIZE);
        List<Bar.Area> areas = new ArrayList<>();
        if ((flags & DeviceMessages.REGION_CAPS) != 0) {
            sparseAreas(reply, areas);
        } else if ((flags & DeviceMessages.REGION_MMAP) != 0) {
            areas.add(new Bar.Area(0, bytes));
        }
        boolean readable = (flags & DeviceMessages.REGION_READ) != 0;
        return new ClientRegion(index, bytes, readable, (flags & DeviceMessages.REGION_WRITE) != 0, areas);
    }

    /** Follows the list of capabilities, each at a higher offset than the one before, so that it must end. */
    private static void sparseAreas(MessageReader reply, List<Bar.Area> areas) throws IOException {
        int fixed = DeviceMessages.SPARSE.size();
        int at = reply.u32(DeviceMessages.REGION_CAP_OFFSET);
        int last = 0;
        while (at > last && at <= reply.bodyBytes() - fixed) {
            if (reply.u16(at + DeviceMessages.SPARSE_ID) == DeviceMessages.CAP_SPARSE_MMAP) {
                int n = reply.u32(at + DeviceMessages.SPARSE_AREAS);
                int size = DeviceMessages.AREA.size();
                if (n < 0 || n > (reply.bodyBytes() - at - fixed) / size) {
                    throw new IOException("a list of " + Integer.toUnsignedLong(n) + " areas does not fit its message");
                }
                for (int i = 0; i < n; i++) {
                    int area = at + fixed + i * size;
                    areas.add(new Bar.Area(
                            reply.u64(area + DeviceMessages.AREA_OFFSET), reply.u64(area + DeviceMessages.AREA_SIZE)));
                }
            }
            last = at;
            at = reply.u32(at + DeviceMessages.SPARSE_NEXT);
        }
    }
}
