// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A guest without any device of ours: what the test kit promises to authors of other drivers. */
@Tag("guest")
@Timeout(240)
class GuestTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static Path directory;
    private static Guest guest;

    @BeforeAll
    static void boot() throws IOException {
        directory = Files.createTempDirectory(Path.of("/tmp"), "bpk-");
        guest = new Guest(new LocalQemu(), GuestImage.fromEnvironment(), GuestConfig.named("alone"), directory);
        guest.start();
        guest.awaitBooted();
    }

    @AfterAll
    static void end() {
        guest.close();
    }

    private static void bootAgainIfGone() {
        if (!guest.alive()) {
            guest.start();
            guest.awaitBooted();
        }
    }

    @Test
    void commandsGiveOutputErrorsAndExitCode() {
        bootAgainIfGone();
        ExecResult r = guest.exec("echo to out; echo to err >&2; exit 3");
        assertEquals("to out\n", r.out());
        assertEquals("to err\n", r.err());
        assertEquals(3, r.exitCode());
        assertThrows(AssertionError.class, r::ok);
    }

    @Test
    void largeOutputArrivesWhole() {
        bootAgainIfGone();
        ExecResult r = guest.exec("seq 1 50000").ok();
        assertEquals(50_000, r.out().lines().count());
        assertTrue(r.out().endsWith("\n50000\n"));
    }

    @Test
    void severalCommandsRunAtOnce() {
        bootAgainIfGone();
        Execution waiting = guest.start("mkfifo /tmp/gate; read line < /tmp/gate; echo got $line");
        guest.exec("while [ ! -p /tmp/gate ]; do :; done; echo through > /tmp/gate")
                .ok();
        assertEquals("got through\n", waiting.await(LIMIT).ok().out());
    }

    @Test
    void slowCommandIsKilledAtItsLimit() {
        bootAgainIfGone();
        GuestFailure f =
                assertThrows(GuestFailure.class, () -> guest.exec("echo begun; sleep 1000", Duration.ofSeconds(2)));
        assertTrue(f.getMessage().contains("begun"), f.getMessage());
        assertNotEquals(0, guest.exec("pgrep -f 'sleep 1000'").exitCode(), "it still runs");
    }

    @Test
    void rebootBringsAFreshSystem() {
        bootAgainIfGone();
        guest.exec("touch /tmp/old").ok();
        guest.reboot();
        assertNotEquals(0, guest.exec("test -e /tmp/old").exitCode());
    }

    @Test
    void panicFailsTheWaitingCommandWithTheConsole() {
        bootAgainIfGone();
        GuestFailure f = assertThrows(
                GuestFailure.class,
                () -> guest.exec("echo c > /proc/sysrq-trigger; sleep 1000", Duration.ofMinutes(3)));
        assertTrue(f.getMessage().contains("kernel trouble"), f.getMessage());
        assertTrue(f.getMessage().contains("sysrq"), f.getMessage());
        assertThrows(GuestFailure.class, guest::assertHealthy);
        guest.kill();
    }

    @Test
    void endOfAKilledGuestIsNotHeldAgainstItsSuccessor() {
        bootAgainIfGone();
        guest.kill();
        guest.start();
        guest.awaitBooted();
        guest.exec("true").ok();
        guest.assertHealthy();
    }

    @Test
    void lostGuestFailsTheWaitingCommand() {
        bootAgainIfGone();
        Execution e = guest.start("sleep 1000");
        guest.qmp().execute("quit");
        assertThrows(GuestFailure.class, () -> e.await(Duration.ofMinutes(3)));
        assertThrows(GuestFailure.class, guest::assertHealthy);
        guest.kill();
        assertFalse(guest.alive());
    }
}
