// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MsixTableTest {
    private final List<String> masks = new ArrayList<>();
    private final MsixTable table = new MsixTable(4, (v, m) -> masks.add(v + (m ? " masked" : " unmasked")));

    @Test
    void entriesAreMaskedAfterResetAndKeepWhatIsWritten() {
        for (int v = 0; v < 4; v++) {
            assertEquals(0, table.read(16 * v, 8));
            assertEquals(1L << 32, table.read(16 * v + 8, 8));
        }
        table.write(16, 8, 0xfee00000_00001000L);
        table.write(24, 4, 0x41);
        assertEquals(0xfee00000_00001000L, table.read(16, 8));
        assertEquals(0xfee00000L, table.read(20, 4));
        assertEquals(0x1000, table.read(16, 2));
        assertEquals(0x41, table.read(24, 1));
        assertEquals(List.of(), masks);
        table.reset();
        assertEquals(0, table.read(16, 8));
    }

    @Test
    void maskBitIsToldAndTheRestOfVectorControlStaysZero() {
        table.write(12, 4, 0xffffffffL);
        assertEquals(1, table.read(12, 4));
        table.write(16 + 12, 1, 0);
        table.write(32 + 8, 8, 0x00000001_00000055L);
        assertEquals(0x55, table.read(40, 4));
        table.write(48 + 13, 1, 0xff);
        assertEquals(1, table.read(48 + 12, 4));
        assertEquals(List.of("0 masked", "1 unmasked", "2 masked"), masks);
    }
}
