// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final List<String> trouble = new ArrayList<>();

    private Console drained(String text) {
        Console c = new Console(trouble::add);
        c.drain(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
        return c;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[    1.0] Kernel panic - not syncing: Attempted to kill init!",
                "[    1.0] Oops: 0002 [#1] PREEMPT SMP",
                "[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000000",
                "[    1.0] WARNING: CPU: 0 PID: 1 at net/core/dev.c:1",
                "[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
                "[    1.0] INFO: task kworker/0:1:9 blocked for more than 120 seconds.",
                "[    1.0] bp_agg 0000:00:04.0 eth0: NETDEV WATCHDOG: transmit queue 0 timed out"
            })
    void kernelTroubleIsReportedWithItsLine(String line) {
        drained("Linux version\n" + line + "\nmore\n");
        assertEquals(List.of(line), trouble);
    }

    @Test
    void troubleSplitOverTwoReadsIsSeen() throws IOException {
        Console c = new Console(trouble::add);
        PipedInputStream in = new PipedInputStream();
        Thread reader;
        try (PipedOutputStream out = new PipedOutputStream(in)) {
            reader = Thread.ofPlatform().start(() -> c.drain(in));
            out.write("before\nKernel pa".getBytes(StandardCharsets.UTF_8));
            out.flush();
            c.await("Kernel pa", LIMIT);
            out.write("nic - not syncing\n".getBytes(StandardCharsets.UTF_8));
        }
        assertTrue(join(reader));
        assertTrue(trouble.stream().anyMatch(t -> t.startsWith("Kernel panic")), trouble.toString());
    }

    private static boolean join(Thread t) {
        try {
            return t.join(LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void expectedTroubleIsNotReported() {
        Console c = new Console(trouble::add);
        c.expectTrouble();
        c.drain(new ByteArrayInputStream("Kernel panic\n".getBytes(StandardCharsets.UTF_8)));
        assertEquals(List.of(), trouble);
    }

    @Test
    void endOfTheConsoleEndsAWaitAndShowsTheTail() {
        GuestFailure f =
                assertThrows(GuestFailure.class, () -> drained("last words\n").await("never", LIMIT));
        assertTrue(f.getMessage().contains("the console ended"), f.getMessage());
        assertTrue(f.getMessage().contains("last words"), f.getMessage());
    }

    @Test
    void markSkipsWhatWasThereBefore() {
        Console c = drained("login: \n");
        assertEquals("login:", c.await("login:", LIMIT));
        assertThrows(GuestFailure.class, () -> c.await("login:", c.mark(), LIMIT));
    }
}
