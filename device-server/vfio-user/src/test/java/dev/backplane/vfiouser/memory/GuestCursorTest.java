// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cursor finds every place, over windows that touch, and refuses what is not there; a broken side is found out. */
@Timeout(30)
class GuestCursorTest {
    private static final long A = 0x1_0000_0000L;
    private static final int BYTES = 8192;

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofShared();
    private final GuestMemory memory = new GuestMemory();
    private final GuestMemory other = new GuestMemory();
    private final GuestCursor cursor = new GuestCursor();
    private final GuestCursor source = new GuestCursor();
    private int use;
    private int otherUse;

    @BeforeEach
    void map() throws MapRefusedException {
        memory.map(A, arena.allocate(BYTES, 4096));
        memory.map(A + BYTES, arena.allocate(BYTES, 4096));
        memory.map(A + 4 * BYTES, BYTES, arena.allocate(BYTES, 4096), false, () -> {});
        other.map(A, arena.allocate(4 * BYTES, 4096));
        begin();
    }

    private void begin() {
        use = memory.enter();
        otherUse = other.enter();
        cursor.use(memory);
        source.use(other);
    }

    private void end() {
        memory.exit(use);
        other.exit(otherUse);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static Reason fault(Runnable access) {
        return assertThrows(GuestMemoryFault.class, access::run).reason();
    }

    @Test
    void scalarsGoToTheirPlaceInAnyWindow() {
        for (long at : new long[] {A, A + BYTES - 8, A + BYTES, A + 2 * BYTES - 8}) {
            cursor.setLong(at, at);
            assertEquals(at, cursor.getLong(at));
            cursor.setLongRelease(at, ~at);
            assertEquals(~at, cursor.getLongAcquire(at));
            cursor.setInt(at + 4, 7);
            assertEquals(7, cursor.getInt(at + 4));
            cursor.setIntRelease(at, -1);
            assertEquals(0x7_ffff_ffffL, cursor.getLong(at));
        }
        end();
    }

    @Test
    void badPlacesAreRefused() {
        assertEquals(Reason.NOT_MAPPED, fault(() -> cursor.getInt(A - 4)));
        assertEquals(Reason.NOT_MAPPED, fault(() -> cursor.getLong(A + 2 * BYTES)));
        assertEquals(Reason.MISALIGNED, fault(() -> cursor.getLong(A + 4)));
        assertEquals(Reason.READ_ONLY, fault(() -> cursor.setInt(A + 4 * BYTES, 1)));
        assertEquals(0, cursor.getInt(A + 4 * BYTES));
        assertEquals(Reason.READ_ONLY, fault(() -> cursor.setInt(A + 4 * BYTES, 1)));
        MemorySegment some = arena.allocate(BYTES);
        assertEquals(Reason.NOT_MAPPED, fault(() -> cursor.write(A + 2 * BYTES - 8, some, 0, 16)));
        assertEquals(Reason.NOT_MAPPED, fault(() -> cursor.copyFrom(A, source, A + 4 * BYTES - 1, 2)));
        assertFalse(memory.broken() || other.broken());
        end();
    }

    @Test
    void copiesRunOverWindowsThatTouch() {
        byte[] bytes = new byte[BYTES];
        new Random(1).nextBytes(bytes);
        MemorySegment from = MemorySegment.ofArray(bytes);
        cursor.write(A + 5000, from, 0, BYTES);
        byte[] back = new byte[BYTES];
        cursor.read(A + 5000, MemorySegment.ofArray(back), 0, BYTES);
        assertArrayEquals(bytes, back);
        source.copyFrom(A + 3, cursor, A + 5000, BYTES);
        cursor.copyFrom(A + 7, source, A + 3, BYTES);
        cursor.read(A + 7, MemorySegment.ofArray(back), 0, BYTES);
        assertArrayEquals(bytes, back);
        end();
    }

    @Test
    void windowThatWasUnmappedIsNotFoundInTheNextUse() throws MapRefusedException {
        cursor.setInt(A, 5);
        end();
        memory.unmap(A, BYTES);
        begin();
        assertEquals(Reason.NOT_MAPPED, fault(() -> cursor.getInt(A)));
        end();
    }

    @Test
    void writesAreLoggedAsDirty() {
        end();
        memory.startDirtyLog();
        begin();
        cursor.setInt(A + 4096, 1);
        cursor.copyFrom(A + BYTES + 8, source, A, 8);
        end();
        MemorySegment bitmap = arena.allocate(8);
        memory.dirtyLog().take(A, 2 * BYTES, 4096, bitmap);
        assertEquals(0b0110, bitmap.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void sharedMeansThatNoMessageIsNeeded() throws MapRefusedException {
        end();
        assertTrue(memory.shared(A + 100, 2 * BYTES - 100));
        assertFalse(memory.shared(A + 4 * BYTES, 1), "read-only");
        memory.map(A + 2 * BYTES, BYTES, null, true, () -> {});
        assertTrue(memory.writable(A, 3 * BYTES));
        assertFalse(memory.shared(A, 2 * BYTES + 1));
    }

    @Test
    void truncatedFileBreaksTheMemoryThatItBelongsTo() throws IOException, MapRefusedException {
        end();
        try (FileChannel file = FileChannel.open(
                directory.resolve("ram"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            other.map(A + 8 * BYTES, file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena));
            begin();
            cursor.copyFrom(A, source, A + 8 * BYTES, BYTES);
            file.truncate(0);
            assertEquals(Reason.BROKEN, fault(() -> cursor.copyFrom(A, source, A + 8 * BYTES, BYTES)));
            assertTrue(other.broken());
            assertFalse(memory.broken());
            assertEquals(Reason.BROKEN, fault(() -> source.copyFrom(A + 8 * BYTES, cursor, A, BYTES)));
            assertFalse(memory.broken());
            end();
        }
    }
}
