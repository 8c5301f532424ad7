// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DEVICE_FEATURE: migration states and their arcs, DMA logging (libvfio-user#458, #844). */
final class DeviceFeatureTest extends ConformanceTest {
    private static final int GET_STATE = Wire.FEATURE_GET | Wire.FEATURE_DEVICE_STATE;
    private static final int STOP_COPY = 1;

    private RawPeer p;

    @BeforeEach
    void migratable() {
        assumeTrue(system.migratable(), "the device cannot migrate");
        p = peer();
    }

    @Test
    void migrationIsDescribed() {
        Message m = Message.feature(16, Wire.FEATURE_GET | Wire.FEATURE_MIGRATION);
        Received r = p.ok(m);
        assertEquals(Wire.HEADER + 16, r.bytes().length);
        assertEquals(16, r.u32(0), "argsz");
        assertEquals(Wire.FEATURE_GET | Wire.FEATURE_MIGRATION, r.u32(4), "flags");
        assertEquals(STOP_COPY, r.u64(8) & STOP_COPY, "STOP_COPY");
    }

    @Test
    void aDeviceStartsRunning() {
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @ParameterizedTest
    @CsvSource({
        "RUNNING, STOP", "RUNNING, STOP_COPY", "RUNNING, RESUMING", "RUNNING, RUNNING",
        "STOP, RUNNING", "STOP, STOP_COPY", "STOP, RESUMING", "STOP, STOP",
        "STOP_COPY, STOP", "STOP_COPY, RUNNING", "STOP_COPY, RESUMING",
    })
    void theArcsOfTheSpecificationAreTaken(String from, String to) {
        enter(from);
        Message m = Message.deviceState(number(to));
        Received r = p.ok(m);
        byte[] golden = m.toBytes();
        golden[8] = Wire.REPLY;
        assertArrayEquals(golden, r.bytes(), "the reply repeats the request");
        assertEquals(number(to), state());
    }

    @Test
    void stopCopyDoesNotGoBackToPreCopy() {
        enter("STOP_COPY");
        p.fails(Wire.EINVAL, Message.deviceState(Wire.STATE_PRE_COPY));
        assertEquals(Wire.STATE_STOP_COPY, state());
    }

    @ParameterizedTest
    @ValueSource(ints = {Wire.STATE_ERROR, 5, 7, 8, 0xabcd, 0x7fffffff, -1})
    void otherStatesAreRefused(int state) {
        p.fails(Wire.EINVAL, Message.deviceState(state));
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @Test
    void resumingWithoutDataLeavesTheDeviceAsItWas() {
        SystemUnderTest.Scratch s = system.scratch();
        p.ok(Message.write32(s.bar(), s.offset(), 0x77));
        enter("RESUMING");
        p.ok(Message.deviceState(Wire.STATE_RUNNING));
        assertEquals(0x77, p.ok(Message.read(s.bar(), s.offset(), 4)).u32(16));
    }

    @Test
    void aClientThatDiesWhileCopyingLeavesARunningDevice() {
        enter("STOP_COPY");
        p.close();
        p = peer();
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Wire.FEATURE_MIGRATION | Wire.FEATURE_GET,
                Wire.FEATURE_DEVICE_STATE | Wire.FEATURE_GET,
                Wire.FEATURE_DEVICE_STATE | Wire.FEATURE_SET,
                Wire.FEATURE_DEVICE_STATE | Wire.FEATURE_GET | Wire.FEATURE_SET,
                Wire.FEATURE_LOGGING_START | Wire.FEATURE_SET,
                Wire.FEATURE_LOGGING_STOP | Wire.FEATURE_SET,
                Wire.FEATURE_LOGGING_REPORT | Wire.FEATURE_GET,
                Wire.FEATURE_MIGRATION,
            })
    void whatIsThereCanBeProbed(int flags) {
        Message m = Message.feature(8, flags | Wire.FEATURE_PROBE);
        byte[] golden = m.toBytes();
        golden[8] = Wire.REPLY;
        assertArrayEquals(golden, p.ok(m).bytes());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                Wire.FEATURE_MIGRATION | Wire.FEATURE_SET,
                Wire.FEATURE_LOGGING_START | Wire.FEATURE_GET,
                Wire.FEATURE_LOGGING_STOP | Wire.FEATURE_GET,
                Wire.FEATURE_LOGGING_REPORT | Wire.FEATURE_SET,
                Wire.FEATURE_LOGGING_REPORT | Wire.FEATURE_GET | Wire.FEATURE_SET,
                Wire.FEATURE_GET,
                Wire.FEATURE_GET | 0xffff,
                Wire.FEATURE_GET | 3,
            })
    void whatIsNotThereCannot(int flags) {
        p.fails(Wire.EINVAL, Message.feature(8, flags | Wire.FEATURE_PROBE));
        p.fails(Wire.EINVAL, Message.feature(16, flags).u64(0));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Wire.FEATURE_GET | Wire.FEATURE_SET, 1 << 19, 1 << 31})
    void operationsThatAreNoneAreEinval(int operation) {
        p.fails(
                Wire.EINVAL,
                Message.feature(16, operation | Wire.FEATURE_DEVICE_STATE)
                        .u32(Wire.STATE_STOP)
                        .u32(0));
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 15})
    void aSmallArgszIsEinval(int argsz) {
        p.fails(Wire.EINVAL, Message.feature(argsz, GET_STATE));
        p.fails(
                Wire.EINVAL,
                Message.feature(argsz, Wire.FEATURE_SET | Wire.FEATURE_DEVICE_STATE)
                        .u32(Wire.STATE_STOP)
                        .u32(0));
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 7})
    void aShortPayloadIsEinval(int bytes) {
        p.fails(Wire.EINVAL, Message.command(Wire.DEVICE_FEATURE).bytes(new byte[bytes]));
    }

    @Test
    void aShortStateIsEinval() {
        p.fails(Wire.EINVAL, Message.feature(16, Wire.FEATURE_SET | Wire.FEATURE_DEVICE_STATE));
        p.fails(
                Wire.EINVAL,
                Message.feature(16, Wire.FEATURE_SET | Wire.FEATURE_DEVICE_STATE)
                        .u32(Wire.STATE_STOP));
        assertEquals(Wire.STATE_RUNNING, state());
    }

    @Test
    void dirtyPagesAreReported() {
        assumeTrue(system.link().isPresent(), "no way to write guest memory from here");
        long base = 0x100000;
        p.ok(Message.dmaMap(3, 0, base, 0x10000), memfd(0x10000));
        p.ok(logging(4096));
        assertEquals(0, report(base, 0x10000, 4096));
        var memory = system.link().orElseThrow().memory();
        try (var arena = java.lang.foreign.Arena.ofConfined()) {
            var bytes = arena.allocate(8);
            int use = memory.enter();
            memory.write(base + 0x3ffc, bytes, 0, 8); // the end of page 3 and the start of page 4
            memory.write(base + 0xf000, bytes, 0, 8);
            memory.exit(use);
        }
        assertEquals(1 << 3 | 1 << 4 | 1 << 15, report(base, 0x10000, 4096), "pages written");
        assertEquals(0, report(base, 0x10000, 4096), "a report clears");
        p.ok(Message.feature(8, Wire.FEATURE_SET | Wire.FEATURE_LOGGING_STOP));
        p.fails(Wire.EINVAL, reportOf(base, 0x10000, 4096));
    }

    @Test
    void badLoggingIsRefused() {
        p.ok(Message.dmaMap(3, 0, 0x100000, 0x10000), memfd(0x10000));
        p.fails(Wire.EINVAL, logging(0));
        p.fails(Wire.EINVAL, reportOf(0x100000, 0x10000, 4096));
        p.ok(logging(4096));
        p.fails(Wire.EINVAL, reportOf(0x100000, 0x10000, 0));
        p.fails(Wire.EINVAL, reportOf(0x100000, 0x10000, 4095));
        Received overflow = p.call(reportOf(-4096, -1, 4096));
        assertEquals(Wire.REPLY | Wire.ERROR, overflow.flags());
        Received large = p.call(reportOf(0, Long.MAX_VALUE, 4096));
        assertEquals(Wire.REPLY | Wire.ERROR, large.flags());
        p.nothingPending();
    }

    @Test
    void theLogIsStartedAgainWithTheSamePageSizeOnly() {
        p.ok(logging(8192));
        p.ok(logging(8192));
        p.ok(logging(4096)); // what the reply has said
        p.ok(logging(4096));
        p.fails(Wire.EINVAL, logging(2048));
        p.fails(Wire.EINVAL, logging(16384));
        p.ok(Message.feature(24, Wire.FEATURE_SET | Wire.FEATURE_LOGGING_STOP)
                .u64(4096)
                .u64(0));
        p.ok(logging(16384));
    }

    @Test
    void aPageLargerThanTheRangeIsEinval() {
        p.ok(Message.dmaMap(3, 0, 0x100000, 0x10000), memfd(0x10000));
        p.ok(logging(4096));
        assertEquals(0, report(0x100000, 0x10000, 0x10000));
        p.fails(Wire.EINVAL, reportOf(0x100000, 0x10000, 0x20000));
        p.fails(Wire.EINVAL, reportOf(0x100000, 0x10000, 1 << 24));
    }

    @Test
    void whatIsNotMappedIsEnoentWhetherItIsLoggedOrNot() {
        p.fails(Wire.ENOENT, reportOf(0x100000, 0x10000, 4096));
        p.fails(Wire.ENOENT, unmapWithBitmap(0x100000, 0x10000, 4096, 8));
        p.ok(logging(4096));
        p.fails(Wire.ENOENT, reportOf(0x100000, 0x10000, 4096));
        p.fails(Wire.ENOENT, unmapWithBitmap(0x100000, 0x10000, 4096, 8));
        p.ok(Message.dmaMap(3, 0, 0x100000, 0x10000), memfd(0x10000));
        p.fails(Wire.ENOENT, reportOf(0x100000, 0x11000, 4096));
        p.fails(Wire.ENOENT, unmapWithBitmap(0x100000, 0x8000, 4096, 8));
        assertEquals(1, system.windows());
    }

    @Test
    void theBitmapOfAnUnmappingHasItsSize() {
        p.ok(Message.dmaMap(3, 0, 0x100000, 0x10000), memfd(0x10000));
        p.fails(Wire.EINVAL, unmapWithBitmap(0x100000, 0x10000, 4096, 8)); // nothing is logged
        p.ok(logging(4096));
        p.fails(Wire.EINVAL, unmapWithBitmap(0x100000, 0x10000, 4096, 0));
        p.fails(Wire.EINVAL, unmapWithBitmap(0x100000, 0x10000, 4096, 16));
        p.fails(Wire.EINVAL, unmapWithBitmap(0x100000, 0x10000, 4095, 8));
        p.fails(Wire.EINVAL, unmapWithBitmap(0x100000, 0x10000, 0x20000, 8));
        assertEquals(1, system.windows());
        Received r = p.ok(unmapWithBitmap(0x100000, 0x10000, 4096, 8));
        assertEquals(Wire.HEADER + 24 + 16 + 8, r.bytes().length);
        assertEquals(0, system.windows());
    }

    private static Message unmapWithBitmap(long address, long size, long pageSize, long bitmapBytes) {
        return Message.command(Wire.DMA_UNMAP)
                .u32(24 + 16 + bitmapBytes)
                .u32(1)
                .u64(address)
                .u64(size)
                .u64(pageSize)
                .u64(bitmapBytes);
    }

    private long report(long iova, long length, long pageSize) {
        Received r = p.ok(reportOf(iova, length, pageSize));
        assertEquals(iova, r.u64(8));
        assertEquals(length, r.u64(16));
        assertEquals(pageSize, r.u64(24));
        assertEquals(Wire.HEADER + 8 + 24 + 8, r.bytes().length);
        return r.u64(32);
    }

    private static Message reportOf(long iova, long length, long pageSize) {
        return Message.feature(4096, Wire.FEATURE_GET | Wire.FEATURE_LOGGING_REPORT)
                .u64(iova)
                .u64(length)
                .u64(pageSize);
    }

    private static Message logging(long pageSize) {
        return Message.feature(24, Wire.FEATURE_SET | Wire.FEATURE_LOGGING_START)
                .u64(pageSize)
                .u32(0)
                .u32(0);
    }

    private void enter(String state) {
        if (number(state) != Wire.STATE_RUNNING) {
            p.ok(Message.deviceState(number(state)));
        }
        assertEquals(number(state), state());
    }

    private int state() {
        Received r = p.ok(Message.feature(16, GET_STATE));
        assertEquals(16, r.u32(0), "argsz");
        assertEquals(Wire.HEADER + 16, r.bytes().length);
        return (int) r.u32(8);
    }

    private static int number(String state) {
        return switch (state) {
            case "STOP" -> Wire.STATE_STOP;
            case "RUNNING" -> Wire.STATE_RUNNING;
            case "STOP_COPY" -> Wire.STATE_STOP_COPY;
            case "RESUMING" -> Wire.STATE_RESUMING;
            case "PRE_COPY" -> Wire.STATE_PRE_COPY;
            default -> throw new IllegalArgumentException(state);
        };
    }
}
