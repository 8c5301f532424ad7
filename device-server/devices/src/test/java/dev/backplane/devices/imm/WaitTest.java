// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.ResetKind;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Actions that wait for room or for an element: how each wait ends, and that it always does. */
@Timeout(30)
class WaitTest {
    private static final long LONG = 9_000_000;

    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;
    private SimulatedProcess owner;
    private SimulatedProcess process;

    @BeforeEach
    void connect() {
        net = new TestFabric();
        one = net.node(1);
        two = net.node(2);
        owner = two.open(0);
        process = one.open(0);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    private SimulatedProcess.ActionFields bigPut(SimulatedProcess p, SimulatedRing ring) {
        return p.put(2, ring.id, KEY).memory(Action.INLINE, 0, 992);
    }

    /** Fills a ring of 4096 bytes: three elements of 1024 bytes, then there is no room for a fourth. */
    private void fill(SimulatedRing ring) {
        for (int i = 0; i < 3; i++) {
            assertEquals(Completion.OK, bigPut(process, ring).run().status());
        }
        assertEquals(Completion.FULL, bigPut(process, ring).run().status());
    }

    private void awaitWaits(SimulatedDriver d, long n) {
        TestFabric.await(n + " waits on " + d.module, () -> d.count("waits") == n);
    }

    @Test
    void putThatWaitsGoesOnWhenTheOwnerConsumesAndRings() {
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        fill(ring);
        bigPut(process, ring).waiting(LONG).submit();
        awaitWaits(one, 1);
        TestFabric.await("the wish for room", () -> two.guest.getInt(ring.header(RingHeader.SPACE_WANTED)) != 0);
        assertNull(process.poll());
        assertNotNull(ring.poll());
        owner.ring();
        assertEquals(Completion.OK, process.await().status());
        TestFabric.await("no wish any more", () -> two.guest.getInt(ring.header(RingHeader.SPACE_WANTED)) == 0);
    }

    @Test
    void putThatWaitsGoesOnAlsoWithoutTheOwnersDoorbell() {
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        fill(ring);
        bigPut(process, ring).waiting(LONG).submit();
        awaitWaits(one, 1);
        assertNotNull(ring.poll());
        assertEquals(Completion.OK, process.await().status());
    }

    @Test
    void getThatWaitsGetsTheNextElement() {
        SimulatedRing ring = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        process.get(2, ring.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 1);
        assertNull(process.poll());
        assertEquals(
                Completion.OK,
                owner.put(2, ring.id, KEY).tag(5).inline(new byte[8]).run().status());
        SimulatedProcess.Result r = process.await();
        assertEquals(Completion.OK, r.status());
        assertEquals(5, r.tag());
    }

    @Test
    void putThatWaitsForSharedConsumersGoesOnWithAGet() {
        SimulatedRing ring = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        fill(ring);
        bigPut(process, ring).waiting(LONG).submit();
        awaitWaits(one, 1);
        assertEquals(
                Completion.OK,
                owner.get(2, ring.id, KEY).memory(Action.INLINE, 0, 1024).run().status());
        assertEquals(Completion.OK, process.await().status());
    }

    @Test
    void waitsEndInTime() {
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedRing shared = two.ring(owner, 1, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        fill(ring);
        assertEquals(
                Completion.TIMED_OUT, bigPut(process, ring).waiting(2000).run().status());
        assertEquals(
                Completion.TIMED_OUT,
                process.get(2, shared.id, KEY).room(8).waiting(1).run().status());
        assertEquals(2, one.count("timeouts"));
        assertEquals(Completion.OK, process.put(2, shared.id, KEY).room(8).run().status());
    }

    @Test
    void waitersAreServedInTheirOrderAndNobodyOvertakes() {
        SimulatedRing shared = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess[] waiters = new SimulatedProcess[5];
        for (int i = 0; i < waiters.length; i++) {
            waiters[i] = one.open(1 + i);
            waiters[i].get(2, shared.id, KEY).room(8).waiting(LONG).submit();
            awaitWaits(one, i + 1L);
        }
        assertEquals(
                Completion.EMPTY, process.get(2, shared.id, KEY).room(8).run().status(), "who does not wait");
        for (int i = 0; i < waiters.length; i++) {
            owner.put(2, shared.id, KEY).tag(i).inline(new byte[8]).run();
            assertEquals(i, waiters[i].await().tag());
        }
    }

    @Test
    void resetOfTheOwnerEndsWaitsUnreachable() {
        SimulatedRing shared = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        process.get(2, shared.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 1);
        two.guest.reset(ResetKind.FUNCTION_LEVEL);
        assertEquals(Completion.UNREACHABLE, process.await().status());
        assertEquals(
                Completion.UNREACHABLE,
                process.get(2, shared.id, KEY).room(8).waiting(LONG).run().status());
    }

    @Test
    void disconnectOfTheOwnerEndsWaitsUnreachable() {
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        fill(ring);
        bigPut(process, ring).waiting(LONG).submit();
        awaitWaits(one, 1);
        two.close();
        assertEquals(Completion.UNREACHABLE, process.await().status());
    }

    @Test
    void endOfTheRingEndsWaitsWithNoSuchRing() {
        SimulatedRing first = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        process.get(2, first.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 1);
        two.command(AdminCommand.OP_RING_DESTROY, owner)
                .u32(AdminCommand.RING, first.id)
                .ok();
        assertEquals(Completion.NO_SUCH_RING, process.await().status());
        assertEquals(RingHeader.STATE_CLOSED, first.state());

        SimulatedRing second = two.ring(owner, 1, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        process.get(2, second.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 2);
        two.close(owner);
        assertEquals(Completion.NO_SUCH_RING, process.await().status());
    }

    @Test
    void waiterThatDiesIsForgottenAndTheNextOneIsServed() {
        SimulatedRing shared = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess dying = one.open(1);
        dying.get(2, shared.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 1);
        process.get(2, shared.id, KEY).room(8).waiting(LONG).submit();
        awaitWaits(one, 2);
        one.close(dying);
        SimulatedProcess heir = one.open(1);
        assertNotEquals(dying.generation, heir.generation);
        owner.put(2, shared.id, KEY).tag(9).inline(new byte[8]).run();
        assertEquals(9, process.await().tag());
        assertEquals(0, heir.complete(), "nothing old for the next process");
        assertTrue(one.count("late_results") >= 1, one.module.counters().toString());
    }

    /** On a clock that the test moves: a wait ends when it is to, or after the longest that there is, and not before. */
    @ParameterizedTest
    @CsvSource({"1, 1", "2500, 2500", "9999999, 9999999", "10000000, 10000000", "10000001, 10000000", "-1, 10000000"})
    void waitEndsAfterWhatWasAskedForAndAfterTenSecondsAtMost(long asked, long micros) {
        AtomicLong clock = new AtomicLong(1L << 40);
        Timers timers = new Timers(clock::get);
        try (TestFabric other = new TestFabric(MessagingConfig.defaults(), timers)) {
            SimulatedDriver driver = other.node(1);
            SimulatedProcess p = driver.open(0);
            SimulatedRing shared = driver.ring(p, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            SimulatedRing full = driver.ring(p, 1, 4096, 0, KEY);
            SimulatedProcess putter = driver.open(1);
            for (int status = Completion.OK; status != Completion.FULL; ) {
                status = putter.put(1, full.id, KEY)
                        .memory(Action.INLINE, 0, 992)
                        .run()
                        .status();
            }
            long start = timers.now();
            p.get(1, shared.id, KEY).room(8).waiting(asked).submit();
            putter.put(1, full.id, KEY)
                    .memory(Action.INLINE, 0, 992)
                    .waiting(asked)
                    .submit();
            awaitWaits(driver, 2);
            moveTo(clock, timers, start + micros * 1000 - 1);
            assertNull(p.poll(), "before its time");
            assertNull(putter.poll(), "before its time");
            assertEquals(0, driver.count("timeouts"));
            moveTo(clock, timers, start + micros * 1000);
            assertEquals(Completion.TIMED_OUT, p.await().status());
            assertEquals(Completion.TIMED_OUT, putter.await().status());
            assertEquals(2, driver.count("timeouts"));
        }
    }

    /** Moves the clock, and returns when all that was due by then has happened. */
    private static void moveTo(AtomicLong clock, Timers timers, long when) {
        clock.addAndGet(when - timers.now());
        // What is due fires in the order of its time: this comes last.
        CountDownLatch fired = new CountDownLatch(1);
        timers.timer(fired::countDown).arm(when);
        timers.clockChanged();
        try {
            assertTrue(fired.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
