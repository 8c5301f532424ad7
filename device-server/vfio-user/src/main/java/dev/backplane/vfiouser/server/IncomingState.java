// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The state that a client writes, growing as it arrives, up to a limit. */
final class IncomingState {
    /** Longest state that is taken. */
    static final int MAX_BYTES = 64 << 20;

    private byte[] data = new byte[4096];
    private int bytes;

    /** Appends; false when the state would become too long. */
    boolean append(MemorySegment from, long at, int n) {
        if (n > MAX_BYTES - bytes) {
            return false;
        }
        if (bytes + n > data.length) {
            data = Arrays.copyOf(data, Math.min(MAX_BYTES, Math.max(bytes + n, 2 * data.length)));
        }
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, at, data, bytes, n);
        bytes += n;
        return true;
    }

    int bytes() {
        return bytes;
    }

    MemorySegment segment() {
        return MemorySegment.ofArray(data).asSlice(0, bytes);
    }
}
