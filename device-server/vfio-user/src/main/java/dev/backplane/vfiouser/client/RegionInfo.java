// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static dev.backplane.vfiouser.client.ClientConnection.INT;
import static dev.backplane.vfiouser.client.ClientConnection.LONG;
import static dev.backplane.vfiouser.client.ClientConnection.SHORT;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** DEVICE_GET_REGION_INFO and its capability list, asked once for each region. */
final class RegionInfo {
    private static final int INFO_BYTES = 32;
    private static final int FLAG_READ = 1;
    private static final int FLAG_WRITE = 2;
    private static final int FLAG_MMAP = 4;
    private static final int FLAG_CAPS = 8;
    private static final int CAP_SPARSE_MMAP = 1;
    private static final int MOST_CAPS_BYTES = 1 << 16;

    private final ClientConnection connection;
    private final Map<Integer, Region> regions = new HashMap<>();

    RegionInfo(ClientConnection connection) {
        this.connection = connection;
    }

    Region of(int index) throws IOException {
        Region known = regions.get(index);
        if (known == null) {
            known = ask(index, true);
            for (int fd : connection.takeFds()) {
                FileDescriptor.close(fd);
            }
            regions.put(index, known);
        }
        return known;
    }

    MemorySegment map(int index, int area, Arena arena) throws IOException {
        Region region = ask(index, true);
        int[] fds = connection.takeFds();
        try {
            if (area < 0 || area >= region.areas().size() || fds.length == 0) {
                throw new IllegalArgumentException("region " + index + " has no area " + area + " to map");
            }
            Region.Area a = region.areas().get(area);
            long offset = connection.in().get(LONG, connection.payload() + 24L);
            return MemoryFile.map(fds[0], offset + a.offset(), a.bytes(), region.writable(), arena);
        } finally {
            for (int fd : fds) {
                FileDescriptor.close(fd);
            }
        }
    }

    /** Asks, and once more with the size that the answer needs. The answer is the current message afterwards. */
    private Region ask(int index, boolean again) throws IOException {
        int argsz = INFO_BYTES;
        int got = request(index, argsz);
        int needed = connection.in().get(INT, connection.payload());
        if (again && needed > got && needed <= MOST_CAPS_BYTES) {
            argsz = needed;
            got = request(index, argsz);
        }
        MemorySegment in = connection.in();
        int at = connection.payload();
        int flags = in.get(INT, at + 4L);
        long bytes = in.get(LONG, at + 16L);
        List<Region.Area> areas = new ArrayList<>();
        if ((flags & FLAG_CAPS) != 0) {
            sparseAreas(in, at, got, areas);
        } else if ((flags & FLAG_MMAP) != 0) {
            areas.add(new Region.Area(0, bytes));
        }
        return new Region(index, bytes, (flags & FLAG_READ) != 0, (flags & FLAG_WRITE) != 0, areas);
    }

    private int request(int index, int argsz) throws IOException {
        MemorySegment o = connection.out(INFO_BYTES);
        o.asSlice(16, INFO_BYTES).fill((byte) 0);
        o.set(INT, 16, argsz);
        o.set(INT, 24, index);
        int got = connection.callPlain(Commands.GET_REGION_INFO, INFO_BYTES);
        if (got < INFO_BYTES) {
            throw new IOException("region information of " + got + " bytes");
        }
        return got;
    }

    /** Follows the list of capabilities, each at a higher offset than the one before, so that it must end. */
    private static void sparseAreas(MemorySegment in, int at, int bytes, List<Region.Area> areas) throws IOException {
        int cap = in.get(INT, at + 12L);
        int last = 0;
        while (cap > last && cap <= bytes - 16) {
            if ((in.get(SHORT, at + (long) cap) & 0xffff) == CAP_SPARSE_MMAP) {
                int n = in.get(INT, at + cap + 8L);
                if (n < 0 || n > (bytes - cap - 16) / 16) {
                    throw new IOException("a list of " + Integer.toUnsignedLong(n) + " areas does not fit its message");
                }
                for (int i = 0; i < n; i++) {
                    long entry = at + cap + 16L + 16L * i;
                    areas.add(new Region.Area(in.get(LONG, entry), in.get(LONG, entry + 8)));
                }
            }
            last = cap;
            cap = in.get(INT, at + cap + 4L);
        }
    }
}
