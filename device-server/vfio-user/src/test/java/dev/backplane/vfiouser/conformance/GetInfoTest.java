// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_GET_INFO. */
final class GetInfoTest extends ConformanceTest {
    /** RESET and PCI: without the first, QEMU never sends RESET. */
    private static final int FLAGS = 3;

    @Test
    void theReplyIsGolden() {
        RawPeer p = peer();
        Message m = Message.getInfo();
        assertArrayEquals(golden(m), p.call(m).bytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {17, 4096, 0xffffffffL})
    void aLargerArgszChangesNothing(long argsz) {
        RawPeer p = peer();
        Message m = Message.command(Wire.GET_INFO).u32(argsz).u32(0).u32(0).u32(0);
        assertArrayEquals(golden(m), p.call(m).bytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 4, 15})
    void aSmallArgszIsEinval(long argsz) {
        peer().fails(
                        Wire.EINVAL,
                        Message.command(Wire.GET_INFO).u32(argsz).u32(0).u32(0).u32(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 15})
    void aShortPayloadIsEinval(int bytes) {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.command(Wire.GET_INFO).bytes(new byte[bytes]));
        p.nothingPending();
    }

    @Test
    void anUnneededDescriptorIsClosed() {
        RawPeer p = peer();
        int fd = eventfd();
        int before = Fds.count();
        Received r = p.call(Message.getInfo(), fd);
        assertEquals(Wire.REPLY, r.flags() & 0xf);
        p.nothingPending();
        assertEquals(before, Fds.count(), "open descriptors");
    }

    private static byte[] golden(Message m) {
        return Message.command(Wire.GET_INFO)
                .id(m.id())
                .flags(Wire.REPLY)
                .u32(16)
                .u32(FLAGS)
                .u32(Wire.PCI_REGIONS)
                .u32(5)
                .toBytes();
    }
}
