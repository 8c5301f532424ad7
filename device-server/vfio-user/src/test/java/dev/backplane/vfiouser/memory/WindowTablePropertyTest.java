// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The window table against a sorted map, under any sequence of mapping and unmapping. */
final class WindowTablePropertyTest {
    private static final long PAGE = 4096;

    /** A window that is mapped if its place is free, or unmapped if exactly this is there; and an address to look up. */
    record Step(long start, long bytes, boolean map, long look) {}

    @Provide
    Arbitrary<List<Step>> fewPlaces() {
        Arbitrary<Long> start = Arbitraries.longs().between(0, 40).map(n -> n * PAGE);
        return steps(start, Arbitraries.longs().between(1, 6).map(n -> n * PAGE), 0, 200);
    }

    @Provide
    Arbitrary<List<Step>> wholeSpace() {
        Arbitrary<Long> start =
                Arbitraries.longs().edgeCases(c -> c.add(0L, -PAGE, Long.MAX_VALUE, Long.MIN_VALUE, -1L));
        Arbitrary<Long> bytes =
                Arbitraries.longs().between(1, Long.MAX_VALUE).edgeCases(c -> c.add(1L, PAGE, Long.MAX_VALUE));
        return steps(start, bytes, 0, 100);
    }

    /** Enough of them to split chunks and to empty them. */
    @Provide
    Arbitrary<List<Step>> manySmall() {
        return steps(
                Arbitraries.longs().between(0, 3000).map(n -> n * PAGE),
                Arbitraries.of(PAGE, PAGE / 2, 1L),
                2000,
                4000);
    }

    private static Arbitrary<List<Step>> steps(Arbitrary<Long> start, Arbitrary<Long> bytes, int least, int most) {
        return Combinators.combine(start, bytes, Arbitraries.integers().between(0, 3), Arbitraries.longs())
                .as((s, b, kind, look) -> new Step(s, b, kind > 0, s + look % (2 * b)))
                .list()
                .ofMinSize(least)
                .ofMaxSize(most);
    }

    @Property(tries = 300)
    void agreesOnFewPlaces(@ForAll("fewPlaces") List<Step> steps) {
        check(steps);
    }

    @Property(tries = 300)
    void agreesOnTheWholeSpace(@ForAll("wholeSpace") List<Step> steps) {
        check(steps);
    }

    @Property(tries = 40)
    void agreesOnManyWindows(@ForAll("manySmall") List<Step> steps) {
        check(steps);
    }

    private static void check(List<Step> steps) {
        WindowTable table = WindowTable.EMPTY;
        TreeMap<Long, Window> model = new TreeMap<>(Long::compareUnsigned);
        for (Step s : steps) {
            if (Long.compareUnsigned(s.start + s.bytes - 1, s.start) < 0) {
                continue; // wraps: refused before it comes to the table
            }
            boolean overlaps = overlaps(model, s.start, s.bytes);
            assertEquals(overlaps, table.overlaps(s.start, s.bytes), () -> "overlap of " + s);
            if (s.map && !overlaps) {
                Window w = new Window(s.start, s.bytes, null, true, () -> {});
                table = table.with(w);
                model.put(s.start, w);
            } else if (!s.map && model.containsKey(s.start)) {
                table = table.without(model.remove(s.start));
            }
            assertEquals(model.size(), table.size());
            for (long at : new long[] {s.look, s.start, s.start - 1, s.start + s.bytes - 1, s.start + s.bytes}) {
                assertEquals(find(model, at), table.find(at), () -> "window of 0x" + Long.toHexString(at));
            }
        }
        assertEquals(List.copyOf(model.values()), List.of(table.toArray()));
    }

    private static Window find(NavigableMap<Long, Window> model, long at) {
        Map.Entry<Long, Window> e = model.floorEntry(at);
        return e != null && Long.compareUnsigned(at, e.getValue().last()) <= 0 ? e.getValue() : null;
    }

    private static boolean overlaps(NavigableMap<Long, Window> model, long start, long bytes) {
        Map.Entry<Long, Window> e = model.floorEntry(start + bytes - 1);
        return e != null && Long.compareUnsigned(e.getValue().last(), start) >= 0;
    }
}
