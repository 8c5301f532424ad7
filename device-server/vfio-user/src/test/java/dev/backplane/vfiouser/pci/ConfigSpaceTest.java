// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ConfigSpaceTest {
    private static final PciFunction FUNCTION = new PciFunction(
            0x1b36,
            0x1100,
            0xabcd,
            0x1234,
            7,
            0x020000,
            List.of(Bar.registers(0, 0x10000), Bar.memory(2, 1L << 33), Bar.memory(4, 4096)),
            true,
            new PciFunction.Msix(33, 0, 0x8000, 0x9000));

    private final List<String> events = new ArrayList<>();
    private final ConfigSpace config = new ConfigSpace(FUNCTION, new ConfigSpace.Listener() {
        @Override
        public void controlChanged() {
            events.add("control");
        }

        @Override
        public void functionLevelReset() {
            events.add("flr");
        }
    });

    private long get(int offset, int width) {
        MemorySegment m = MemorySegment.ofArray(new byte[8]);
        config.read(offset, m, 0, width);
        return m.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    private void set(int offset, int width, long value) {
        MemorySegment m = MemorySegment.ofArray(new byte[8]);
        m.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        config.write(offset, m, 0, width);
    }

    private byte[] all() {
        byte[] bytes = new byte[ConfigSpace.BYTES];
        config.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
        return bytes;
    }

    private int capability(int id) {
        for (int at = (int) get(0x34, 1); at != 0; at = (int) get(at + 1, 1)) {
            if (get(at, 1) == id) {
                return at;
            }
        }
        throw new AssertionError("no capability " + id);
    }

    @Test
    void identity() {
        assertEquals(0x11001b36, get(0, 4));
        assertEquals(0x02000007, get(8, 4));
        assertEquals(0x1234abcdL, get(0x2c, 4));
        assertEquals(0, get(0x0e, 1), "header type");
        assertEquals(1, get(0x3d, 1), "pin A");
        assertEquals(0x10, get(6, 2) & 0x10, "has capabilities");
    }

    @Test
    void capabilitiesAreAListWithoutLoop() {
        Set<Integer> seen = new HashSet<>();
        Set<Long> ids = new HashSet<>();
        for (int at = (int) get(0x34, 1); at != 0; at = (int) get(at + 1, 1)) {
            assertTrue(seen.add(at), "loop at " + at);
            assertEquals(0, at & 3);
            assertTrue(at >= 0x40);
            ids.add(get(at, 1));
        }
        assertEquals(Set.of(0x01L, 0x11L, 0x10L), ids);
        assertEquals(0, get(0x100, 4), "no extended capabilities");
    }

    @Test
    void withoutMsixItIsNotInTheList() {
        ConfigSpace plain =
                new ConfigSpace(new PciFunction(1, 2, 3, 4, 5, 6, List.of(), false, null), new ConfigSpace.Listener() {
                    @Override
                    public void controlChanged() {}

                    @Override
                    public void functionLevelReset() {}
                });
        MemorySegment m = MemorySegment.ofArray(new byte[256]);
        plain.read(0, m, 0, 256);
        int pm = m.get(ValueLayout.JAVA_BYTE, 0x34);
        int next = m.get(ValueLayout.JAVA_BYTE, pm + 1);
        assertEquals(0x10, m.get(ValueLayout.JAVA_BYTE, next));
        assertEquals(0, m.get(ValueLayout.JAVA_BYTE, next + 1));
        assertFalse(plain.msixMasked());
    }

    @Test
    void barsTellTheirSize() {
        long[] sizes = {0x10000, 1L << 33, 4096};
        int[] flags = {0x4, 0xc, 0xc};
        for (int i = 0; i < 3; i++) {
            int at = 0x10 + 8 * i;
            assertEquals(flags[i], get(at, 8));
            set(at, 4, 0xffffffffL);
            set(at + 4, 4, 0xffffffffL);
            assertEquals(sizes[i], -(get(at, 8) & ~0xfL));
            set(at, 8, 0x12_3456_7000L + (7L << 34));
            assertEquals(((0x12_3456_7000L + (7L << 34)) & -sizes[i]) | flags[i], get(at, 8));
        }
    }

    @Test
    void sizingWorksWhateverTheWidths() {
        for (int width : new int[] {1, 2, 4, 8}) {
            for (int o = 0; o < 8; o += width) {
                set(0x10 + o, width, -1);
            }
            assertEquals(-0x10000L | 4, get(0x10, 8), "width " + width);
            set(0x10, 8, 0);
        }
    }

    @Test
    void readOnlyRegistersIgnoreWrites() {
        byte[] before = all();
        for (int at : new int[] {0, 2, 8, 9, 0xa, 0xe, 0xf, 0x28, 0x2c, 0x2e, 0x30, 0x34, 0x38, 0x3d, 0x3e, 0x3f}) {
            set(at, 1, 0xff);
        }
        for (int at = 0x100; at < ConfigSpace.BYTES; at += 8) {
            set(at, 8, -1);
        }
        set(capability(0x01), 4, -1);
        set(capability(0x11), 2, -1);
        set(capability(0x11) + 4, 8, -1);
        set(capability(0x10), 8, -1);
        assertArrayEquals(before, all());
    }

    @Test
    void commandKeepsItsWritableBits() {
        set(4, 2, 0xffff);
        assertEquals(0x0546, get(4, 2));
        assertTrue(config.busMaster());
        assertTrue(config.intxDisabled());
        set(5, 1, 0);
        assertEquals(0x0046, get(4, 2));
        assertFalse(config.intxDisabled());
        assertTrue(config.busMaster());
        set(4, 1, 0);
        assertFalse(config.busMaster());
        assertEquals(List.of("control", "control", "control"), events);
    }

    @Test
    void sleepingFunctionIsNoBusMaster() {
        int pm = capability(0x01);
        assertEquals(0x8, get(pm + 4, 2), "no soft reset");
        set(4, 2, 4);
        set(pm + 4, 2, 3);
        assertEquals(0xb, get(pm + 4, 2));
        assertFalse(config.busMaster());
        set(pm + 4, 2, 0);
        assertTrue(config.busMaster());
    }

    @Test
    void msixControlHasEnableAndFunctionMask() {
        int msix = capability(0x11);
        assertEquals(32, get(msix + 2, 2), "one less than the vectors");
        assertEquals(0x8000, get(msix + 4, 4));
        assertEquals(0x9000, get(msix + 8, 4));
        set(msix + 2, 2, 0xffff);
        assertEquals(0xc020, get(msix + 2, 2));
        assertTrue(config.msixMasked());
        set(msix + 2, 2, 0x8000);
        assertFalse(config.msixMasked());
    }

    @Test
    void functionLevelResetIsAskedForByOneBit() {
        int express = capability(0x10);
        assertNotEquals(0, get(express + 4, 4) & 1 << 28, "FLR capable");
        set(express + 8, 2, 0x7fff);
        assertEquals(List.of("control"), events);
        set(express + 8, 2, 0x8000);
        set(express + 9, 1, 0x80);
        assertEquals(List.of("control", "control", "flr", "control", "flr"), events);
        assertEquals(0, get(express + 8, 2) & 0x8000, "reads as 0");
    }

    @Test
    void interruptStatusFollowsThePin() {
        assertEquals(0x10, get(6, 2));
        config.intxStatus(true);
        assertEquals(0x18, get(6, 2));
        set(6, 2, 0xffff);
        assertEquals(0x18, get(6, 2));
        config.intxStatus(false);
        assertEquals(0x10, get(6, 2));
    }

    /** Whatever was written: after a reset the space is that of a new function, and a saved one comes back. */
    @Test
    void resetAndRestoreForgetNothing() {
        byte[] fresh = all();
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
            int width = 1 << random.nextInt(4);
            set(random.nextInt(ConfigSpace.BYTES - 8), width, random.nextLong());
        }
        byte[] used = all();
        MemorySegment saved = MemorySegment.ofArray(new byte[ConfigSpace.BYTES]);
        config.save(saved, 0);
        config.reset();
        assertArrayEquals(fresh, all());
        assertFalse(config.busMaster());
        config.restore(saved, 0);
        assertArrayEquals(used, all());
        saved.set(ValueLayout.JAVA_BYTE, 2, (byte) ~saved.get(ValueLayout.JAVA_BYTE, 2));
        assertThrows(IllegalArgumentException.class, () -> config.restore(saved, 0));
        assertArrayEquals(used, all());
    }
}
