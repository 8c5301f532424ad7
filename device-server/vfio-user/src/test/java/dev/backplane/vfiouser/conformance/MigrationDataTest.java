// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** MIG_DATA_READ and MIG_DATA_WRITE: a device's state leaves one client and arrives at another. */
final class MigrationDataTest extends ConformanceTest {
    private RawPeer p;

    @BeforeEach
    void migratable() {
        assumeTrue(system.migratable(), "the device cannot migrate");
        p = peer();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 64, 4096, 1 << 20})
    void aSavedStateCanBeRestored(int piece) {
        SystemUnderTest.Scratch s = system.scratch();
        p.ok(Message.write32(s.bar(), s.offset(), 0x600df00dL));
        p.ok(Message.deviceState(Wire.STATE_STOP_COPY));
        byte[] saved = save(piece);
        assertTrue(saved.length > 0, "bytes of state");
        p.ok(Message.deviceState(Wire.STATE_RUNNING));
        p.close();
        p = peer();
        p.ok(Message.reset());
        p.ok(Message.deviceState(Wire.STATE_RESUMING));
        for (int at = 0; at < saved.length; at += piece) {
            int n = Math.min(piece, saved.length - at);
            Message m = data(Arrays.copyOfRange(saved, at, at + n));
            assertArrayEquals(
                    Message.command(Wire.MIG_DATA_WRITE)
                            .id(m.id())
                            .flags(Wire.REPLY)
                            .toBytes(),
                    p.call(m).bytes());
        }
        p.ok(Message.deviceState(Wire.STATE_STOP));
        p.ok(Message.deviceState(Wire.STATE_RUNNING));
        assertEquals(0x600df00dL, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
    }

    @Test
    void theEndIsAShorterAnswer() {
        p.ok(Message.deviceState(Wire.STATE_STOP_COPY));
        save(4096);
        Received r = p.ok(read(4096));
        assertEquals(0, r.u32(4), "nothing is left");
        assertEquals(8, r.u32(0), "argsz");
        assertEquals(Wire.HEADER + 8, r.bytes().length);
    }

    @Test
    void readingIsRefusedUnlessSaving() {
        p.fails(Wire.EINVAL, read(64));
        p.ok(Message.deviceState(Wire.STATE_STOP));
        p.fails(Wire.EINVAL, read(64));
        p.ok(Message.deviceState(Wire.STATE_RESUMING));
        p.fails(Wire.EINVAL, read(64));
    }

    @Test
    void writingIsRefusedUnlessResuming() {
        p.fails(Wire.EINVAL, data(new byte[8]));
        p.ok(Message.deviceState(Wire.STATE_STOP_COPY));
        p.fails(Wire.EINVAL, data(new byte[8]));
    }

    @Test
    void sizesAreChecked() {
        p.ok(Message.deviceState(Wire.STATE_STOP_COPY));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_READ).u32(8).u32(64));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_READ).u32(-1).u32(-1));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_READ).u32(-1).u32((1 << 20) + 1));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_READ).u32(8));
        p.ok(Message.deviceState(Wire.STATE_RESUMING));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.MIG_DATA_WRITE).u32(72).u32(64).bytes(new byte[8]));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_WRITE).u32(8).u32(64).bytes(new byte[64]));
        p.fails(
                Wire.EINVAL,
                Message.command(Wire.MIG_DATA_WRITE).u32(-1).u32(-1).bytes(new byte[64]));
        p.fails(Wire.EINVAL, Message.command(Wire.MIG_DATA_WRITE).u32(8));
    }

    @Test
    void aBadStateIsRefusedAndTheDeviceResets() {
        for (byte[] bad : new byte[][] {new byte[1], new byte[64], new byte[65_536]}) {
            Arrays.fill(bad, (byte) 0xa5);
            p.ok(Message.deviceState(Wire.STATE_RESUMING));
            p.ok(data(bad));
            p.fails(Wire.EINVAL, Message.deviceState(Wire.STATE_STOP));
            p.ok(Message.reset());
            assertEquals(
                    Wire.STATE_RUNNING,
                    p.ok(Message.feature(16, Wire.FEATURE_GET | Wire.FEATURE_DEVICE_STATE))
                            .u32(8));
        }
    }

    @Test
    void aTruncatedStateIsRefused() {
        p.ok(Message.deviceState(Wire.STATE_STOP_COPY));
        byte[] saved = save(1 << 20);
        for (int cut : new int[] {1, saved.length / 2, saved.length - 1}) {
            p.ok(Message.reset());
            p.ok(Message.deviceState(Wire.STATE_RESUMING));
            p.ok(data(Arrays.copyOf(saved, cut)));
            p.fails(Wire.EINVAL, Message.deviceState(Wire.STATE_STOP));
        }
        p.ok(Message.reset());
        p.ok(Message.deviceState(Wire.STATE_RESUMING));
        p.ok(data(saved));
        p.ok(data(new byte[1]));
        p.fails(Wire.EINVAL, Message.deviceState(Wire.STATE_STOP));
    }

    @Test
    void aStateWithoutEndIsRefusedBeforeItFillsTheMemory() {
        p.ok(Message.deviceState(Wire.STATE_RESUMING));
        Message m = data(new byte[1 << 20]);
        boolean refused = false;
        for (int i = 0; i < 300 && !refused; i++) {
            refused = p.call(m).flags() != Wire.REPLY;
        }
        assertTrue(refused, "300 MiB of state were accepted");
    }

    private byte[] save(int piece) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while (true) {
            Received r = p.ok(read(piece));
            int n = (int) r.u32(4);
            assertEquals(8 + n, r.u32(0), "argsz");
            assertEquals(Wire.HEADER + 8 + n, r.bytes().length);
            out.write(r.payload(), 8, n);
            if (n < piece) {
                return out.toByteArray();
            }
        }
    }

    private static Message read(int bytes) {
        return Message.command(Wire.MIG_DATA_READ).u32(8 + bytes).u32(bytes);
    }

    private static Message data(byte[] bytes) {
        return Message.command(Wire.MIG_DATA_WRITE)
                .u32(8 + bytes.length)
                .u32(bytes.length)
                .bytes(bytes);
    }
}
