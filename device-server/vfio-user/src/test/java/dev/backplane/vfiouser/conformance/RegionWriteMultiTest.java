// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** REGION_WRITE_MULTI: several register writes in one message, in order. */
final class RegionWriteMultiTest extends ConformanceTest {
    private int bar;
    private long offset;

    @BeforeEach
    void scratch() {
        bar = system.scratch().bar();
        offset = system.scratch().offset();
    }

    @Test
    void allAreWrittenInOrder() {
        RawPeer p = peer();
        Message m = Message.command(Wire.REGION_WRITE_MULTI).u64(3);
        write(m, offset, bar, 4, 1);
        write(m, offset, bar, 4, 0x11223344);
        write(m, offset, bar, 4, 0x55);
        assertArrayEquals(
                Message.command(Wire.REGION_WRITE_MULTI)
                        .id(m.id())
                        .flags(Wire.REPLY)
                        .u64(3)
                        .toBytes(),
                p.call(m).bytes());
        assertEquals(0x55, p.ok(Message.read(bar, offset, 4)).u32(16));
    }

    @Test
    void nothingIsWrittenByNone() {
        Received r = peer().call(Message.command(Wire.REGION_WRITE_MULTI).u64(0));
        assertEquals(Wire.REPLY, r.flags() & 0xf);
    }

    @Test
    void aBadWriteIsRefused() {
        RawPeer p = peer();
        p.ok(Message.write32(bar, offset, 1));
        Message longer = Message.command(Wire.REGION_WRITE_MULTI).u64(1);
        write(longer, offset, bar, 9, 2);
        p.fails(Wire.EINVAL, longer);
        Message where = Message.command(Wire.REGION_WRITE_MULTI).u64(1);
        write(where, -4, bar, 4, 2);
        p.fails(Wire.EINVAL, where);
        Message which = Message.command(Wire.REGION_WRITE_MULTI).u64(1);
        write(which, 0, 99, 4, 2);
        p.fails(Wire.EINVAL, which);
        assertEquals(1, p.ok(Message.read(bar, offset, 4)).u32(16));
    }

    @ParameterizedTest
    @ValueSource(longs = {2, 3, 1000, 0x7fffffffffffffffL, -1, 0x0aaaaaaaaaaaaaabL, 0x1000000000000000L})
    void theCountMustMatchThePayload(long count) {
        RawPeer p = peer();
        p.ok(Message.write32(bar, offset, 1));
        Message m = Message.command(Wire.REGION_WRITE_MULTI).u64(count);
        write(m, offset, bar, 4, 2);
        p.fails(Wire.EINVAL, m);
        assertEquals(1, p.ok(Message.read(bar, offset, 4)).u32(16));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 7})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.REGION_WRITE_MULTI).bytes(new byte[bytes]));
        p.nothingPending();
    }

    @Test
    void itCanBePosted() {
        RawPeer p = peer();
        Message m = Message.command(Wire.REGION_WRITE_MULTI).u64(2).posted();
        write(m, offset, bar, 4, 7);
        write(m, offset, bar, 4, 8);
        p.send(m);
        assertEquals(8, p.ok(Message.read(bar, offset, 4)).u32(16));
        assertTrue(!p.readable(0));
    }

    private static void write(Message m, long offset, int region, int count, long data) {
        m.u64(offset).u32(region).u32(count).u64(data);
    }
}
