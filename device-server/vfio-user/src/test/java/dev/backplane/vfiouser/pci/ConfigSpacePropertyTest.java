// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Configuration space under any sequence of writes, against a table of writable bits from the standard. */
final class ConfigSpacePropertyTest {
    private static final long BAR_BYTES = 0x20000;

    /** Which bits software can write (PCI Express Base 6.2, chapter 7.5 and 7.7.2), by byte; all others are constant. */
    private static final TreeMap<Integer, Integer> WRITABLE = new TreeMap<>();

    private static final int DEVICE_CONTROL = 0x68;

    static {
        bits(0x04, 0x0546, 2); // command: memory space, bus master, parity, SERR#, interrupt disable
        bits(0x0c, 0xff, 1); // cache line size
        bits(0x10, -BAR_BYTES, 8); // BAR 0, 64 bits
        bits(0x3c, 0xff, 1); // interrupt line
        bits(0x44, 0x3, 2); // power state
        bits(0x52, 0xc000, 2); // MSI-X enable, function mask
        bits(DEVICE_CONTROL, 0x78ff, 2);
        bits(0x70, 0x00cb, 2); // link control
        bits(0x88, 0x0010, 2); // device control 2
        bits(0x90, 0x000f, 2); // link control 2
    }

    private static void bits(int offset, long mask, int bytes) {
        for (int i = 0; i < bytes; i++) {
            WRITABLE.put(offset + i, (int) (mask >>> (8 * i)) & 0xff);
        }
    }

    record Write(int offset, List<Byte> data) {}

    @Provide
    Arbitrary<List<Write>> writes() {
        Arbitrary<Integer> offset = Arbitraries.frequencyOf(
                Tuple.of(9, Arbitraries.integers().between(0, 0xa0)),
                Tuple.of(1, Arbitraries.integers().between(0, 4095)));
        Arbitrary<List<Byte>> data = Arbitraries.oneOf(
                        Arbitraries.bytes(), Arbitraries.of((byte) 0xff, (byte) 0x7f, (byte) 0))
                .list()
                .ofMinSize(1)
                .ofMaxSize(16);
        return Combinators.combine(offset, data)
                .as((o, d) -> new Write(Math.min(o, 4096 - d.size()), d))
                .list()
                .ofMaxSize(60);
    }

    @Property(tries = 500)
    void onlyWritableBitsChangeAndAllOfThemDo(@ForAll("writes") List<Write> writes) {
        PciFunction function = new PciFunction(
                0x1b36,
                0x11,
                0x1af4,
                0x22,
                3,
                0x020000,
                List.of(Bar.registers(0, BAR_BYTES)),
                true,
                new PciFunction.Msix(5, 0, 0, 0x1000));
        int[] resets = new int[1];
        ConfigSpace space = new ConfigSpace(function, new ConfigSpace.Listener() {
            @Override
            public void controlChanged() {
                // nobody to tell
            }

            @Override
            public void functionLevelReset() {
                resets[0]++;
            }
        });
        byte[] model = dump(space);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(16);
            int expectedResets = 0;
            for (Write w : writes) {
                for (int i = 0; i < w.data.size(); i++) {
                    int at = w.offset + i;
                    int mask = WRITABLE.getOrDefault(at, 0);
                    from.set(ValueLayout.JAVA_BYTE, i, w.data.get(i));
                    model[at] = (byte) ((model[at] & ~mask) | (w.data.get(i) & mask));
                    expectedResets += at == DEVICE_CONTROL + 1 && w.data.get(i) < 0 ? 1 : 0; // bit 15: initiate FLR
                }
                space.write(w.offset, from, 0, w.data.size());
                assertArrayEquals(model, dump(space), () -> "after " + w);
                assertEquals(expectedResets, resets[0], "function level resets");
                assertEquals((model[4] & 4) != 0 && (model[0x44] & 3) == 0, space.busMaster(), "bus master in D0");
                assertEquals((model[5] & 4) != 0, space.intxDisabled(), "interrupt disable");
                assertEquals((model[0x53] & 0x40) != 0, space.msixMasked(), "function mask");
            }
            space.reset();
        }
        byte[] fresh = dump(new ConfigSpace(function, null));
        assertArrayEquals(fresh, dump(space), "a reset leaves nothing behind");
    }

    private static byte[] dump(ConfigSpace space) {
        MemorySegment all = MemorySegment.ofArray(new byte[ConfigSpace.BYTES]);
        space.read(0, all, 0, ConfigSpace.BYTES);
        return all.toArray(ValueLayout.JAVA_BYTE);
    }

    /** Logarithms of the sizes of BARs 0, 2 and 4; 0 for none. */
    @Provide
    Arbitrary<List<Integer>> sizes() {
        return Arbitraries.oneOf(Arbitraries.just(0), Arbitraries.integers().between(12, 62))
                .list()
                .ofSize(3);
    }

    /** How software finds out how large a BAR is and where it may be (7.5.1.2.1): all ones, then read. */
    @Property(tries = 300)
    void sizingFindsTheSizeAndPlacingKeepsTheAddress(
            @ForAll("sizes") List<Integer> sizes, @ForAll long address, @ForAll boolean prefetchable) {
        List<Bar> bars = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            if (sizes.get(i) != 0) {
                bars.add(new Bar(2 * i, 1L << sizes.get(i), prefetchable, List.of()));
            }
        }
        ConfigSpace space = new ConfigSpace(
                new PciFunction(1, 2, 3, 4, 0, 0xff0000, bars, false, null), new ConfigSpace.Listener() {
                    @Override
                    public void controlChanged() {
                        // nobody to tell
                    }

                    @Override
                    public void functionLevelReset() {
                        throw new AssertionError("a BAR is no reset");
                    }
                });
        for (int i = 0; i < 3; i++) {
            int at = 0x10 + 8 * i;
            int log = sizes.get(i);
            long flags = log == 0 ? 0 : 4 | (prefetchable ? 8 : 0);
            write(space, at, -1L);
            long size = log == 0 ? 0 : -(1L << log);
            assertEquals(size | flags, read(space, at), "all ones, BAR " + 2 * i);
            write(space, at, address);
            assertEquals(log == 0 ? 0 : (address & size) | flags, read(space, at), "address of BAR " + 2 * i);
        }
    }

    private static void write(ConfigSpace space, int at, long value) {
        MemorySegment from = MemorySegment.ofArray(new byte[8]);
        from.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        space.write(at, from, 0, 8);
    }

    private static long read(ConfigSpace space, int at) {
        MemorySegment to = MemorySegment.ofArray(new byte[8]);
        space.read(at, to, 0, 8);
        return to.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }
}
