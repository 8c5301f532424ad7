// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.Crowding.LONGEST_PAUSE_NANOS;
import static dev.backplane.devices.imm.Crowding.LOOK_NANOS;
import static dev.backplane.devices.imm.Crowding.LOST_NANOS;
import static dev.backplane.devices.imm.Crowding.SHORTEST_PAUSE_NANOS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.counter.CounterGroup;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pollers that are short of a processor, on a clock that the test moves. */
@Timeout(60)
class CrowdingTest {
    private static final long LOST = LOST_NANOS + LOOK_NANOS;

    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - SHORTEST_PAUSE_NANOS); // which overflows
    private final CounterGroup counters = new CounterGroup("test");
    private final Crowding crowding = new Crowding(clock::get, counters.counter("pauses", "Pauses"));

    /** A round through one context, in vain, after that time. */
    private boolean round(long nanos) {
        boolean crowded = crowding.begins(clock.addAndGet(nanos), 1);
        crowding.foundNothing();
        return crowded;
    }

    /** No context is left, after that time. */
    private boolean sleep(long nanos) {
        return crowding.begins(clock.addAndGet(nanos), 0);
    }

    @Test
    void isNotCrowdedAsLongAsRoundsFollowEachOther() {
        for (int i = 0; i < 100_000; i++) {
            assertFalse(round(LOST - 1));
        }
        assertFalse(crowding.crowded());
        assertEquals(0, counters.get("pauses"));
    }

    @Test
    void timeForWorkAndAsleepIsNotLost() {
        assertFalse(round(0));
        assertFalse(crowding.begins(clock.addAndGet(1), 1), "and it finds something");
        assertFalse(round(100 * LOST), "which took long");
        assertFalse(sleep(1), "with no context left it sleeps");
        assertFalse(round(100 * LOST));
    }

    @Test
    void manyContextsTakeLonger() {
        assertFalse(round(0));
        assertFalse(crowding.begins(clock.addAndGet(LOST_NANOS + 1000 * LOOK_NANOS - 1), 1000));
        crowding.foundNothing();
        assertTrue(crowding.begins(clock.addAndGet(LOST_NANOS + 1000 * LOOK_NANOS), 1000));
    }

    @Test
    void pausesGrowWhileTimeIsLostAgainAndAgain() {
        round(0);
        long pauses = 0;
        for (long pause = SHORTEST_PAUSE_NANOS; pauses < 20; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            assertTrue(round(LOST));
            assertEquals(++pauses, counters.get("pauses"));
            assertTrue(round(LOST), "what is lost in a pause does not count");
            assertTrue(sleep(0));
            assertTrue(sleep(pause - LOST - 1));
            assertTrue(crowding.crowded());
            clock.addAndGet(1);
            assertFalse(crowding.crowded(), "after " + pause);
            assertEquals(pauses, counters.get("pauses"));
            assertFalse(round(1));
            assertFalse(round(1));
        }
        sleep(1);
        assertFalse(sleep(LONGEST_PAUSE_NANOS));
        assertFalse(round(1));
        assertTrue(round(LOST), "long after");
        sleep(1);
        sleep(SHORTEST_PAUSE_NANOS - 1);
        assertFalse(crowding.crowded(), "the shortest again");
    }

    /** Contexts sleep while their poller is short of a processor; each action rings, is done, and nobody polls. */
    @Test
    void contextsSleepWhileItIsCrowdedAndArePolledAfterwards() {
        MessagingConfig config = MessagingConfig.defaults().withSpinMicros(MessagingConfig.MAX_SPIN);
        try (TestFabric net = new TestFabric(config, clock::get)) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess p = one.open(0);
            SimulatedProcess other = one.open(1);
            CounterGroup poller = net.fabric.counters().getFirst();
            int actions = 0;
            for (int pauses = 1; pauses <= 3; pauses++) {
                nop(p);
                nop(other);
                actions += 2;
                assertFalse(p.doorbellWanted());
                assertFalse(other.doorbellWanted());
                int expected = pauses;
                TestFabric.await("the poller to notice", () -> {
                    clock.addAndGet(LOST + LOOK_NANOS);
                    return poller.get("crowded") == expected;
                });
                TestFabric.await("sleep", net.fabric::idle);
                assertTrue(p.doorbellWanted());
                assertTrue(other.doorbellWanted());
                long wakeups = poller.get("wakeups");
                for (int i = 0; i < 100; i++) {
                    long rung = p.doorbells;
                    nop(p);
                    actions++;
                    assertEquals(rung + 1, p.doorbells);
                    assertTrue(p.doorbellWanted());
                }
                assertTrue(net.fabric.idle());
                assertEquals(wakeups, poller.get("wakeups"));
                clock.addAndGet(SHORTEST_PAUSE_NANOS << (pauses - 1));
            }
            long done = actions;
            TestFabric.await("all actions to be counted", () -> one.count("actions") == done);
            assertEquals(0, one.count("lost_races"));
        }
    }

    private static void nop(SimulatedProcess p) {
        assertEquals(Completion.OK, p.action(Action.CMD_NOP, 0, 0, 0).run().status());
    }

    @Test
    void dedicatedPollerNeverGivesUp() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(1, true), clock::get)) {
            SimulatedProcess p = net.node(1).open(0);
            for (int i = 0; i < 1000; i++) {
                nop(p);
                clock.addAndGet(LOST + LOOK_NANOS);
                assertFalse(p.doorbellWanted());
            }
            assertEquals(0, p.doorbells);
            assertEquals(0, net.fabric.counters().getFirst().get("crowded"));
        }
    }
}
