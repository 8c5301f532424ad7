// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_GET_IRQ_INFO. */
final class GetIrqInfoTest extends ConformanceTest {
    private static final int EVENTFD = 1;
    private static final int MASKABLE_AUTOMASKED = 6;

    @Test
    void eachTypeTellsItsCount() {
        RawPeer p = peer();
        int vectors =
                system.function().msix() == null ? 0 : system.function().msix().vectors();
        int[] counts = {system.function().pin() ? 1 : 0, 0, vectors, 1, 1};
        for (int index = 0; index < counts.length; index++) {
            Received r = p.ok(Message.getIrqInfo(index));
            assertEquals(Wire.HEADER + 16, r.bytes().length);
            assertEquals(16, r.u32(0), "argsz");
            assertEquals(index, r.u32(8), "index");
            assertEquals(counts[index], r.u32(12), "count of type " + index);
            if (counts[index] > 0) {
                assertTrue((r.u32(4) & EVENTFD) != 0, "EVENTFD");
            }
            if (index == Wire.INTX && counts[index] > 0) {
                assertEquals(MASKABLE_AUTOMASKED, r.u32(4) & MASKABLE_AUTOMASKED, "a level-triggered pin");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 99, 0x7fffffff, 0x80000000, -1})
    void anUnknownIndexIsEinval(int index) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.getIrqInfo(index));
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 15})
    void aSmallArgszIsEinval(long argsz) {
        peer().fails(
                        Wire.EINVAL,
                        Message.command(Wire.GET_IRQ_INFO)
                                .u32(argsz)
                                .u32(0)
                                .u32(0)
                                .u32(0));
    }

    @Test
    void aHugeArgszChangesNothing() {
        Received r = peer().ok(
                        Message.command(Wire.GET_IRQ_INFO).u32(-1).u32(0).u32(2).u32(0));
        assertEquals(Wire.HEADER + 16, r.bytes().length);
        assertEquals(16, r.u32(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 15})
    void aShortPayloadIsEinval(int bytes) {
        peer().fails(Wire.EINVAL, Message.command(Wire.GET_IRQ_INFO).bytes(new byte[bytes]));
    }
}
