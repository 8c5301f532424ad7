// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestMemory;
import java.util.Arrays;

/**
 * Memory of a process that the driver has pinned and registered: the only guest memory that actions of a process, or
 * actions on it, can name. The page list was read and checked once, when it was registered.
 *
 * <p>An entry of the table is the address of a page; its low bits, which an address does not need, tell how many of the
 * pages after it lie next to each other in guest memory. So a lookup is one load, and copies run across pages.
 */
final class RegisteredMemory {
    private static final int MIN_SHIFT = 12;
    private static final int MAX_SHIFT = 21;
    private static final int RUN_MASK = (1 << MIN_SHIFT) - 1;

    final Binding binding;
    final int id;
    final int flags;
    final long key;
    final NodeSet nodes;
    final long bytes;
    final long firstOffset;
    final int pageShift;
    private final long[] table;
    private volatile boolean registered = true;

    /** Memory over {@code pages}, each aligned to its size and checked to be mapped and writable. */
    RegisteredMemory(
            Binding binding,
            int id,
            int flags,
            long key,
            NodeSet nodes,
            long[] pages,
            int pageShift,
            long firstOffset,
            long bytes) {
        this.binding = binding;
        this.id = id;
        this.flags = flags;
        this.key = key;
        this.nodes = nodes;
        this.pageShift = pageShift;
        this.firstOffset = firstOffset;
        this.bytes = bytes;
        this.table = coalesce(pages, pageShift);
    }

    /** Whether the driver's numbers of a memory go together. */
    static boolean plausible(int count, int maxPages, int shift, long first, long bytes) {
        if (count < 1 || count > maxPages || shift < MIN_SHIFT || shift > MAX_SHIFT) {
            return false;
        }
        return first >= 0 && first < 1L << shift && bytes >= 1 && bytes <= ((long) count << shift) - first;
    }

    /** Whether a page is aligned to its size. */
    static boolean aligned(long page, int shift) {
        return (page & ((1L << shift) - 1)) == 0;
    }

    private static long[] coalesce(long[] pages, int shift) {
        long[] table = pages.clone();
        for (int i = table.length - 2; i >= 0; i--) {
            if (pages[i] + (1L << shift) == pages[i + 1]) {
                table[i] |= Math.min((table[i + 1] & RUN_MASK) + 1, RUN_MASK);
            }
        }
        return table;
    }

    /** Whether {@code length} bytes at {@code offset} lie inside; both are a process's and hostile. */
    boolean contains(long offset, long length) {
        return offset >= 0 && length >= 0 && offset <= bytes && length <= bytes - offset;
    }

    /** Guest address of the byte at {@code offset}, which lies inside. */
    long address(long offset) {
        long at = firstOffset + offset;
        return (table[(int) (at >>> pageShift)] & ~(long) RUN_MASK) + (at & ((1L << pageShift) - 1));
    }

    /** Bytes from {@code offset} on that follow each other in guest memory, counted to the end of the last page. */
    long run(long offset) {
        long at = firstOffset + offset;
        long pages = (table[(int) (at >>> pageShift)] & RUN_MASK) + 1;
        return (pages << pageShift) - (at & ((1L << pageShift) - 1));
    }

    /**
     * Whether guest memory is still there, without messages, behind a range that lies inside; to find out whose fault a
     * fault was.
     */
    boolean accessible(long offset, long length, boolean write) {
        GuestMemory guest = binding.guest;
        for (long done = 0; done < length; ) {
            long n = Math.min(length - done, run(offset + done));
            long at = address(offset + done);
            if (!guest.direct(at, n, write)) {
                return false;
            }
            done += n;
        }
        return !guest.broken();
    }

    /** Whether an action may still touch it; asked inside a use of the memory. */
    boolean registered() {
        return registered;
    }

    /** Nothing that starts from now on touches it; what has started ends within the uses that run now. */
    void unregister() {
        registered = false;
    }

    /** Addresses of the pages, as they were registered. */
    long[] pages() {
        return Arrays.stream(table).map(e -> e & ~(long) RUN_MASK).toArray();
    }
}
