// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class SchedulingSliceTest {
    @Test
    void kernelTakesAShortSliceAndLeavesTheNiceValueAlone() throws Exception {
        AtomicReference<String> before = new AtomicReference<>();
        AtomicReference<String> after = new AtomicReference<>();
        AtomicReference<Boolean> taken = new AtomicReference<>();
        Thread t = Thread.ofPlatform().start(() -> {
            before.set(nice());
            taken.set(SchedulingSlice.request(100_000));
            after.set(nice());
        });
        t.join();
        assertTrue(taken.get());
        assertEquals(before.get(), after.get());
    }

    @Test
    void callsWithABadArgumentAreAnErrorNumber() {
        // A size of attr that is impossible.
        assertTrue(Libc.syscall(315, 0, 0, 1, 0) < 0);
    }

    /** Priority and nice value of the calling thread (fields 18 and 19 of stat, proc(5)). */
    private static String nice() {
        try {
            String stat = Files.readString(Path.of("/proc/thread-self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[15] + " " + fields[16];
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
