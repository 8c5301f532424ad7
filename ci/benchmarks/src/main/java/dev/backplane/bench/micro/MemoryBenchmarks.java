// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench.micro;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestRange;
import dev.backplane.vfiouser.memory.MapRefusedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Guest memory: finding a window, copying, and the words of a ring. */
public class MemoryBenchmarks {
    /** Memory in as many windows of a page; a guest of QEMU has about 8, one with many hot-plugged modules hundreds. */
    @State(Scope.Thread)
    public static class Windows {
        private static final int PAGE = 4096;

        @Param({"1", "8", "256"})
        public int windows;

        private final Arena arena = Arena.ofShared();
        private final GuestMemory memory = new GuestMemory();
        private int next;

        /** Maps them, with a gap after each. */
        @Setup
        public void map() throws MapRefusedException {
            for (int i = 0; i < windows; i++) {
                memory.map(2L * i * PAGE, arena.allocate(PAGE, PAGE));
            }
        }

        /** Unmaps them. */
        @TearDown
        public void unmap() {
            memory.unmapAll();
            arena.close();
        }
    }

    /** One window with buffers, as most guests have. */
    @State(Scope.Thread)
    public static class Buffers {
        private static final int SLOTS = 64;

        @Param({"64", "1514", "65000"})
        public int bytes;

        private final Arena arena = Arena.ofShared();
        private final GuestMemory memory = new GuestMemory();
        private MemorySegment to;
        private int next;

        /** Maps the window. */
        @Setup
        public void map() throws MapRefusedException {
            memory.map(0, arena.allocate((long) bytes * SLOTS, 4096));
            to = arena.allocate(bytes, 64);
        }

        /** Unmaps it. */
        @TearDown
        public void unmap() {
            memory.unmapAll();
            arena.close();
        }
    }

    /** A ring of 256 descriptors. */
    @State(Scope.Thread)
    public static class Ring {
        private static final int BYTES = 256 * 32;

        private final Arena arena = Arena.ofShared();
        private final GuestMemory memory = new GuestMemory();
        private GuestRange range;
        private int index;

        /** Maps it. */
        @Setup
        public void map() throws MapRefusedException {
            memory.map(0, arena.allocate(BYTES, 4096));
            range = new GuestRange(memory, 0, BYTES);
        }

        /** Unmaps it. */
        @TearDown
        public void unmap() {
            memory.unmapAll();
            arena.close();
        }
    }

    /** Whether an address that a guest supplied is mapped. */
    @Benchmark
    public boolean windowLookup(Windows w) {
        w.next = w.next + 1 == w.windows ? 0 : w.next + 1;
        return w.memory.readable(2L * w.next * Windows.PAGE + 64, 64);
    }

    /** Bytes out of a guest's buffer, with lookup and checks. */
    @Benchmark
    public MemorySegment copy(Buffers b) {
        b.next = b.next + 1 & Buffers.SLOTS - 1;
        int token = b.memory.enter();
        b.memory.read((long) b.next * b.bytes, b.to, 0, b.bytes);
        b.memory.exit(token);
        return b.to;
    }

    /** A turn's share of a ring: enter, look up, fetch a descriptor, publish an index, leave. */
    @Benchmark
    public long ringTurn(Ring r) {
        int token = r.memory.enter();
        r.range.refresh();
        long at = (r.index++ & 255) * 32L;
        long address = r.range.getLong(at);
        long word = r.range.getLong(at + 8);
        r.range.setIntRelease(0, r.index);
        r.memory.exit(token);
        return address ^ word;
    }
}
