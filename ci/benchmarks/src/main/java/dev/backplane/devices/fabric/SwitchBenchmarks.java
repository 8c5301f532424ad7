// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.Arena;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The switch's table and rendezvous memory's allocator; in their package, because nobody else may use them. */
public class SwitchBenchmarks {
    /** A table of as many learnt addresses. */
    @State(Scope.Thread)
    public static class Table {
        @Param({"2", "256", "4096"})
        public int addresses;

        private MacTable table;
        private int next;

        /** Fills it. */
        @Setup
        public void fill() {
            table = new MacTable(16_384, 4096, 4096);
            for (int i = 0; i < addresses; i++) {
                table.learn(key(i), i, 1);
            }
        }

        long key(int i) {
            return MacTable.key(1, 0x5cba_02L | (long) (i >>> 8 & 0xff) << 32 | (long) (i & 0xff) << 40);
        }

        long nextKey() {
            next = next + 1 == addresses ? 0 : next + 1;
            return key(next);
        }
    }

    /** The default rendezvous memory. */
    @State(Scope.Thread)
    public static class Memory {
        private final Arena arena = Arena.ofShared();
        private RendezvousMemory memory;
        private final int[] cells = new int[64];

        /** Makes it. */
        @Setup(Level.Trial)
        public void make() {
            FabricConfig c = FabricConfig.defaults();
            memory = new RendezvousMemory(arena.allocate(c.rendezvousBytes(), 4096), c.cellBytes(), 64);
        }

        /** Frees it. */
        @TearDown(Level.Trial)
        public void free() {
            arena.close();
        }
    }

    /** Destination of a frame. */
    @Benchmark
    public int switchLookup(Table t) {
        return t.table.find(t.nextKey());
    }

    /** Source of a frame: known already. */
    @Benchmark
    public Object switchLearn(Table t) {
        return t.table.learn(t.nextKey(), t.next, 1);
    }

    /** One cell, as for a small frame without the batches that loops take. */
    @Benchmark
    public boolean allocateOneCell(Memory m) {
        boolean taken = m.memory.cells().take(1, m.cells, 0);
        m.memory.cells().give(1, m.cells, 0);
        return taken;
    }

    /** The 33 cells of a frame of 64 KiB. */
    @Benchmark
    public boolean allocateLargeFrame(Memory m) {
        boolean taken = m.memory.cells().take(33, m.cells, 0);
        m.memory.cells().give(33, m.cells, 0);
        return taken;
    }
}
