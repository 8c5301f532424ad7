// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class GuestMemoryTest {
    private static final long PAGE = 4096;

    private final GuestMemory memory = new GuestMemory();

    private static MemorySegment block(long bytes) {
        return Arena.ofAuto().allocate(bytes, 64);
    }

    private static void refused(MapRefusedException.Reason reason, Executable map) {
        assertEquals(reason, assertThrows(MapRefusedException.class, map).reason());
    }

    private static void faults(Reason reason, Executable access) {
        assertSame(reason.fault(), assertThrows(GuestMemoryFault.class, access));
    }

    @Test
    void windowsMayTouchButNotOverlap() throws MapRefusedException {
        memory.map(0x2000, block(PAGE));
        memory.map(0x1000, block(PAGE));
        memory.map(0x3000, block(PAGE));
        assertEquals(3, memory.windows());
        for (long start : new long[] {0x1000, 0x2000, 0x3000, 0x0800, 0x3fff, 0}) {
            refused(MapRefusedException.Reason.OVERLAP, () -> memory.map(start, block(2 * PAGE)));
        }
        refused(MapRefusedException.Reason.OVERLAP, () -> memory.map(0, block(16 * PAGE)));
        assertEquals(3, memory.windows());
    }

    @Test
    void rangesThatWrapOrAreEmptyAreRefused() throws MapRefusedException {
        refused(MapRefusedException.Reason.BAD_RANGE, () -> memory.map(0x1000, 0, null, true, () -> {}));
        refused(MapRefusedException.Reason.BAD_RANGE, () -> memory.map(0x1000, -4096, null, true, () -> {}));
        refused(MapRefusedException.Reason.BAD_RANGE, () -> memory.map(-PAGE, 2 * PAGE, null, true, () -> {}));
        memory.map(-PAGE, block(PAGE));
        assertTrue(memory.writable(-PAGE, PAGE));
        assertFalse(memory.readable(-PAGE, PAGE + 1));
        assertFalse(memory.readable(-1, 2));
        assertTrue(memory.readable(-1, 1));
        assertFalse(memory.readable(0, -1));
    }

    @Test
    void onlyAWholeWindowIsUnmappedAndReleasedOnce() throws MapRefusedException {
        AtomicInteger released = new AtomicInteger();
        memory.map(0x1000, 2 * PAGE, block(2 * PAGE), true, released::incrementAndGet);
        refused(MapRefusedException.Reason.NO_SUCH_WINDOW, () -> memory.unmap(0x1000, PAGE));
        refused(MapRefusedException.Reason.NO_SUCH_WINDOW, () -> memory.unmap(0x2000, PAGE));
        refused(MapRefusedException.Reason.NO_SUCH_WINDOW, () -> memory.unmap(0x5000, PAGE));
        assertEquals(0, released.get());
        memory.unmap(0x1000, 2 * PAGE);
        assertEquals(1, released.get());
        refused(MapRefusedException.Reason.NO_SUCH_WINDOW, () -> memory.unmap(0x1000, 2 * PAGE));
        assertEquals(1, released.get());
    }

    @Test
    void accessesSpanWindowsThatTouch() throws MapRefusedException {
        memory.map(0x1000, block(PAGE));
        memory.map(0x2000, block(PAGE));
        memory.map(0x3000, block(PAGE));
        byte[] data = new byte[(int) (2 * PAGE)];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 7);
        }
        memory.write(0x1800, MemorySegment.ofArray(data), 0, data.length);
        byte[] back = new byte[data.length];
        memory.read(0x1800, MemorySegment.ofArray(back), 0, back.length);
        assertArrayEquals(data, back);
        assertTrue(memory.writable(0x1000, 3 * PAGE));
        assertFalse(memory.writable(0x1000, 3 * PAGE + 1));
    }

    @Test
    void refusalsNameTheirReasonAndAreCounted() throws MapRefusedException {
        MemorySegment b = block(64);
        memory.map(0x1000, PAGE, block(PAGE), false, () -> {});
        memory.map(0x9000, PAGE, null, true, () -> {});
        faults(Reason.NOT_MAPPED, () -> memory.read(0x4000, b, 0, 8));
        faults(Reason.NOT_MAPPED, () -> memory.read(0x1ff8, b, 0, 16));
        faults(Reason.READ_ONLY, () -> memory.write(0x1000, b, 0, 8));
        faults(Reason.NOT_SHARED, () -> memory.read(0x9000, b, 0, 8));
        assertEquals(0x9000, memory.faultAddress());
        assertEquals(4, memory.counters().get("memory_faults"));
        assertFalse(memory.writable(0x1000, 1));
        assertTrue(memory.writable(0x9000, 1));
    }

    @Test
    void memoryWithoutAFileIsReachedByMessage() throws MapRefusedException {
        byte[] far = new byte[(int) PAGE];
        memory.map(0x1000, block(PAGE));
        memory.map(0x2000, PAGE, null, true, () -> {});
        memory.transport(new DmaTransport() {
            @Override
            public void read(long iova, MemorySegment to, long offset, long bytes) {
                MemorySegment.copy(far, (int) (iova - 0x2000), to, JAVA_BYTE, offset, (int) bytes);
            }

            @Override
            public void write(long iova, MemorySegment from, long offset, long bytes) {
                MemorySegment.copy(from, JAVA_BYTE, offset, far, (int) (iova - 0x2000), (int) bytes);
            }
        });
        MemorySegment data = block(32);
        data.fill((byte) 9);
        memory.write(0x1ff0, data, 0, 32);
        assertEquals(9, far[15]);
        assertEquals(0, far[16]);
        GuestRange range = new GuestRange(memory, 0x2000, 64);
        range.refresh();
        assertEquals(0x09090909, range.getIntAcquire(0));
        range.setLongRelease(16, 0x1122334455667788L);
        assertEquals((byte) 0x88, far[16]);
        assertEquals(0x7788, range.getUnsignedShort(16));
    }

    @Test
    void asManyWindowsAsOffered() throws MapRefusedException {
        MemorySegment all = block(PAGE);
        long stride = 2 * PAGE;
        for (int i = 0; i < GuestMemory.MAX_WINDOWS; i++) {
            memory.map((i * 7919L % GuestMemory.MAX_WINDOWS) * stride, all);
        }
        assertEquals(GuestMemory.MAX_WINDOWS, memory.windows());
        refused(MapRefusedException.Reason.TOO_MANY, () -> memory.map(-PAGE, all));
        for (long i = 0; i < GuestMemory.MAX_WINDOWS; i += 97) {
            assertTrue(memory.readable(i * stride, PAGE));
            assertFalse(memory.readable(i * stride, PAGE + 1));
            assertFalse(memory.readable(i * stride + PAGE, 1));
        }
        for (long i = 0; i < GuestMemory.MAX_WINDOWS; i += 2) {
            memory.unmap(i * stride, PAGE);
        }
        assertEquals(GuestMemory.MAX_WINDOWS / 2, memory.windows());
        assertTrue(memory.readable(stride, PAGE));
        assertFalse(memory.readable(2 * stride, 1));
        assertEquals(GuestMemory.MAX_WINDOWS / 2, memory.unmapAll());
        assertEquals(0, memory.windows());
    }

    @Test
    void truncatedFileBreaksThisMemoryUntilTheNextClient() throws Exception {
        try (FileDescriptor file = MemoryFile.resizable("guest", 4 * PAGE)) {
            Arena arena = Arena.ofShared();
            MemorySegment s = MemoryFile.map(file.value(), 0, 4 * PAGE, true, arena);
            memory.map(0, 4 * PAGE, s, true, arena::close);
            GuestRange range = new GuestRange(memory, 2 * PAGE, 64);
            range.refresh();
            range.setInt(0, 5);
            MemoryFile.resize(file, PAGE);
            faults(Reason.BROKEN, () -> memory.read(2 * PAGE, block(64), 0, 64));
            faults(Reason.BROKEN, () -> memory.write(2 * PAGE, block(64), 0, 64));
            faults(Reason.BROKEN, () -> range.getIntAcquire(0));
            faults(Reason.BROKEN, () -> range.setLongRelease(0, 1));
            assertTrue(memory.broken());
            assertDoesNotThrow(() -> memory.read(0, block(64), 0, 64));
            assertEquals(1, memory.unmapAll());
            assertFalse(memory.broken());
        }
    }

    @Test
    void rangeChecksBoundsAndAlignmentAndFollowsTheWindows() throws MapRefusedException {
        memory.map(0x1000, block(PAGE));
        GuestRange range = new GuestRange(memory, 0x1f00, 0x100);
        range.refresh();
        range.setInt(0xfc, -2);
        assertEquals(-2, range.getInt(0xfc));
        faults(Reason.NOT_MAPPED, () -> range.getInt(0x100));
        faults(Reason.NOT_MAPPED, () -> range.getLong(0xfc));
        faults(Reason.NOT_MAPPED, () -> range.getInt(-4));
        faults(Reason.MISALIGNED, () -> range.getInt(2));
        faults(Reason.MISALIGNED, () -> range.setLongRelease(4, 0));
        memory.unmap(0x1000, PAGE);
        faults(Reason.NOT_MAPPED, range::refresh);
        memory.map(0x1000, 2 * PAGE, block(2 * PAGE), true, () -> {});
        range.refresh();
        assertEquals(0, range.getInt(0xfc));
        faults(Reason.NOT_MAPPED, () -> new GuestRange(memory, 0x2f00, 0x101).refresh());
        faults(Reason.NOT_MAPPED, () -> new GuestRange(memory, 0x2f00, Long.MAX_VALUE).refresh());
        faults(Reason.NOT_MAPPED, () -> new GuestRange(memory, 0x2f00, -1).refresh());
    }

    @Test
    void dirtyLogHasEveryWrittenPageOnce() throws MapRefusedException {
        memory.map(0x100000, block(64 * PAGE));
        memory.write(0x100000, block(8), 0, 8);
        memory.startDirtyLog();
        memory.write(0x100000 + PAGE - 4, block(8), 0, 8);
        memory.write(0x100000 + 10 * PAGE, block(PAGE), 0, PAGE);
        GuestRange range = new GuestRange(memory, 0x100000 + 20 * PAGE, 64);
        range.refresh();
        range.setShort(0, 1);
        byte[] bits = new byte[8];
        memory.dirtyLog().take(0x100000, 64 * PAGE, PAGE, MemorySegment.ofArray(bits));
        assertArrayEquals(new byte[] {0b11, 0b100, 0b10000, 0, 0, 0, 0, 0}, bits);
        Arrays.fill(bits, (byte) 0);
        memory.dirtyLog().take(0x100000, 64 * PAGE, PAGE, MemorySegment.ofArray(bits));
        assertArrayEquals(new byte[8], bits);
    }

    @Test
    void dirtyLogReportsInPagesOfAnySize() throws MapRefusedException {
        memory.map(0x100000, block(64 * PAGE));
        memory.startDirtyLog();
        memory.write(0x100000 + 3 * PAGE, block(8), 0, 8);
        byte[] bits = new byte[16];
        memory.dirtyLog().take(0x100000, 64 * PAGE, PAGE / 2, MemorySegment.ofArray(bits));
        assertEquals(0b11000000, bits[0] & 0xff);
        memory.write(0x100000 + 3 * PAGE, block(8), 0, 8);
        memory.write(0x100000 + 63 * PAGE, block(8), 0, 8);
        Arrays.fill(bits, (byte) 0);
        memory.dirtyLog().take(0x100000, 64 * PAGE, 16 * PAGE, MemorySegment.ofArray(bits));
        assertEquals(0b1001, bits[0]);
        memory.write(0x100000 + 3 * PAGE, block(8), 0, 8);
        memory.write(0x100000 + 5 * PAGE, block(8), 0, 8);
        Arrays.fill(bits, (byte) 0);
        memory.dirtyLog().take(0x100000 + 4 * PAGE, 2 * PAGE, PAGE, MemorySegment.ofArray(bits));
        assertEquals(0b10, bits[0]);
        Arrays.fill(bits, (byte) 0);
        memory.dirtyLog().take(0x100000, 4 * PAGE, PAGE, MemorySegment.ofArray(bits));
        assertEquals(0b1000, bits[0]);
    }

    /** Readers copy while the window goes away and comes back as another mapping: refusals only, never a crash. */
    @Test
    void unmappingUnderReadersNeverTouchesFreedMemory() throws Exception {
        int rounds = 2_000;
        Thread[] threads = new Thread[4];
        AtomicInteger refusals = new AtomicInteger();
        AtomicInteger copies = new AtomicInteger();
        Throwable[] failure = new Throwable[1];
        boolean[] stop = new boolean[1];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                MemorySegment to = block(PAGE);
                try {
                    while (!stop[0] && failure[0] == null) {
                        int token = memory.enter();
                        try {
                            memory.read(0x1000, to, 0, PAGE);
                            memory.write(0x2000, to, 0, PAGE);
                            copies.incrementAndGet();
                        } catch (GuestMemoryFault e) {
                            refusals.incrementAndGet();
                        } finally {
                            memory.exit(token);
                        }
                    }
                } catch (Throwable e) {
                    failure[0] = e;
                }
            });
            threads[t].start();
        }
        try (FileDescriptor file = MemoryFile.create("guest", 2 * PAGE)) {
            for (int i = 0; i < rounds && failure[0] == null; i++) {
                map(file);
                if (i % 2 == 0) {
                    memory.unmap(0x1000, 2 * PAGE);
                } else {
                    memory.unmapAll();
                }
            }
        }
        stop[0] = true;
        for (Thread t : threads) {
            t.join();
        }
        if (failure[0] != null) {
            throw new AssertionError("after " + copies + " copies and " + refusals + " refusals", failure[0]);
        }
        assertTrue(refusals.get() > 0);
    }

    private void map(FileDescriptor file) throws NativeException, MapRefusedException {
        Arena arena = Arena.ofShared();
        MemorySegment s = MemoryFile.map(file.value(), 0, 2 * PAGE, true, arena);
        memory.map(0x1000, 2 * PAGE, s, true, arena::close);
    }
}
