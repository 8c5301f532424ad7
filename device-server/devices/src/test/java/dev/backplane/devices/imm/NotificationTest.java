// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.device.ResetKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events: the count in the event table, the interrupt after it, and sleeping without a lost wake-up. */
@Timeout(60)
class NotificationTest {
    private static final int MODERATION = 2000;

    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;

    private void connect(int moderationMicros) {
        net = new TestFabric(MessagingConfig.defaults().withModerationMicros(moderationMicros));
        one = net.node(1);
        two = net.node(2);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    private int events(SimulatedDriver d, int context) {
        return d.guest.getIntAcquire(d.eventTable + 4L * context);
    }

    @Test
    void elementThatPassesThePositionIsAnEventOfTheOwnersVector() {
        connect(0);
        SimulatedProcess owner = two.open(18);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        p.put(2, ring.id, KEY).room(8).run();
        assertEquals(0, events(two, 18), "nobody asked");
        ring.notifyAt(ring.tail());
        p.put(2, ring.id, KEY).room(8).run();
        two.guest.interrupts().await(1 + 18 % 16, 1);
        assertEquals(1, events(two, 18));
        p.put(2, ring.id, KEY).room(8).run();
        assertEquals(1, events(two, 18), "one event for each position");
        assertEquals(1, two.guest.interrupts().total());
        ring.notifyAt(ring.tail() + 64);
        p.put(2, ring.id, KEY).room(8).run();
        assertEquals(1, two.guest.interrupts().total(), "a threshold that is not reached");
        p.put(2, ring.id, KEY).room(8).run();
        two.guest.interrupts().await(1 + 18 % 16, 2);
        assertEquals(2, events(two, 18));
        assertEquals(0, two.guest.interrupts().outside());
    }

    @Test
    void numberOfElementsThatIsReachedIsAnEvent() {
        connect(0);
        SimulatedProcess owner = two.open(3);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        ring.notifyElements(3);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, events(two, 3), "before element " + i);
            p.put(2, ring.id, KEY).room(8).run();
        }
        two.guest.interrupts().await(4, 1);
        assertEquals(1, events(two, 3));
        assertEquals(3, ring.elements());
        p.put(2, ring.id, KEY).room(8).run();
        assertEquals(1, events(two, 3), "one event for each number");
        ring.notifyElements(2);
        p.put(2, ring.id, KEY).room(8).run();
        assertEquals(1, events(two, 3), "a number that was reached before");
    }

    @Test
    void ringThatIsTooFullForWhatTheOwnerWaitsForIsAnEvent() {
        connect(0);
        SimulatedProcess owner = two.open(3);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        ring.notifyElements(1000);
        long before = ring.refused();
        int elements = 0;
        while (p.put(2, ring.id, KEY).memory(Action.INLINE, 0, 992).run().status() == Completion.OK) {
            elements++;
        }
        assertEquals(3, elements);
        two.guest.interrupts().await(4, 1);
        assertTrue(ring.refused() != before);
        assertEquals(1, events(two, 3));
        // One that waits for room tells once, and the owner sees it in the ring.
        assertFalse(ring.wantsSpace());
        p.put(2, ring.id, KEY).memory(Action.INLINE, 0, 992).waiting(9_000_000).submit();
        two.guest.interrupts().await("the event of a PUT that waits", () -> events(two, 3) == 2);
        assertTrue(ring.wantsSpace());
        ring.notifyElements(0);
        ring.poll();
        owner.ring();
        assertEquals(Completion.OK, p.await().status());
        long refused = ring.refused();
        assertEquals(
                Completion.FULL,
                p.put(2, ring.id, KEY).memory(Action.INLINE, 0, 992).run().status());
        assertTrue(ring.refused() != refused);
        assertEquals(2, events(two, 3), "nobody waits for an event any more");
    }

    /** The consumer sleeps until several elements are there, or the ring is too full for that; none is left lying. */
    @Test
    void consumerThatSleepsForSeveralElementsNeverHangs() {
        connect(0);
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        int elements = 4000;
        TestThread producer = TestThread.start(() -> {
            for (int i = 0; i < elements; i++) {
                // Some wait for room, some try again.
                SimulatedProcess.ActionFields a = p.put(2, ring.id, KEY).tag(i).inline(new byte[8 + i % 300]);
                SimulatedProcess.Result r = (i % 3 == 0 ? a.waiting(9_000_000) : a).run();
                while (r.status() == Completion.FULL) {
                    Thread.onSpinWait();
                    r = p.put(2, ring.id, KEY)
                            .tag(i)
                            .inline(new byte[8 + i % 300])
                            .run();
                }
                assertEquals(Completion.OK, r.status());
            }
        });
        int slept = 0;
        for (int taken = 0; taken < elements; ) {
            int seen = events(two, 0);
            long wanted = Math.min(taken + 1 + taken % 40, elements);
            long refused = ring.refused();
            ring.notifyElements(wanted);
            // As bp_ring_arm_when(): either the module sees the wish, or this sees the elements, or the PUT without
            // room.
            if (ring.elements() < wanted && !ring.wantsSpace() && ring.refused() == refused) {
                slept++;
                two.guest.interrupts().await("an event after " + taken, () -> events(two, 0) != seen);
            }
            for (SimulatedRing.Element e = ring.poll(); e != null; e = ring.poll()) {
                assertEquals(taken++, e.tag());
                if (ring.wantsSpace()) {
                    owner.ring();
                }
            }
        }
        producer.finish();
        assertTrue(slept > 0, "it did sleep");
    }

    @Test
    void completionIsAnEventWhenTheActionWantsIt() {
        connect(0);
        SimulatedProcess p = one.open(5);
        p.action(Action.CMD_NOP, 0, 0, 0).run();
        assertEquals(0, one.guest.interrupts().total());
        p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).submit();
        one.guest.interrupts().await(6, 1);
        assertEquals(1, events(one, 5));
        assertNotNull(p.poll());
    }

    @Test
    void interruptsThatComeTooSoonAreJoinedAndTheLastEventIsAnnounced() {
        connect(MODERATION);
        SimulatedProcess p = one.open(0);
        int actions = 200;
        for (int i = 0; i < actions; i++) {
            p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).run();
        }
        TestFabric.await("all events", () -> events(one, 0) == actions);
        TestFabric.await(
                "no interrupt that is due",
                () -> one.count("interrupts") + one.count("interrupts_coalesced") <= actions
                        && one.guest.interrupts().total() == one.count("interrupts"));
        long soFar = one.guest.interrupts().total();
        assertTrue(soFar < actions, soFar + " interrupts for " + actions + " events");
        assertTrue(one.count("interrupts_coalesced") > 0);
        p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).run();
        one.guest
                .interrupts()
                .await(
                        "an interrupt for the last event",
                        () -> events(one, 0) == actions + 1
                                && one.guest.interrupts().total() > soFar);
    }

    @Test
    void interruptThatIsDueDoesNotOutliveAReset() {
        connect(MessagingConfig.MAX_MODERATION);
        SimulatedProcess p = one.open(0);
        for (int i = 0; i < 2; i++) {
            p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).run();
        }
        one.guest.reset(ResetKind.FUNCTION_LEVEL);
        long before = one.guest.interrupts().total();
        SimulatedProcess witness = two.open(0);
        for (int i = 0; i < 4; i++) {
            // Two timed waits one after the other outlast the interrupt that was due.
            SimulatedRing shared = two.ring(witness, i, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            assertEquals(
                    Completion.TIMED_OUT,
                    witness.get(2, shared.id, KEY)
                            .room(8)
                            .waiting(MessagingConfig.MAX_MODERATION)
                            .run()
                            .status());
        }
        assertEquals(before, one.guest.interrupts().total());
    }

    @Test
    void withoutMsixThePinIsHeldUntilTheDriverClearsTheEvent() {
        connect(0);
        one.guest.interrupts().messageSignalled(false);
        SimulatedProcess p = one.open(5);
        p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).submit();
        one.guest.interrupts().awaitPin(true);
        assertEquals(ImmRegisters.EVENT_CONTEXT, one.guest.read32(0, ImmRegisters.EVENT_STATUS));
        one.guest.write32(0, ImmRegisters.EVENT_STATUS, ImmRegisters.EVENT_CONTEXT);
        assertEquals(0, one.guest.read32(0, ImmRegisters.EVENT_STATUS));
        assertFalse(one.guest.interrupts().pin());
        p.action(Action.CMD_NOP, 0, 0, 0).flags(Action.NOTIFY).submit();
        one.guest.interrupts().awaitPin(true);
        one.guest.reset(ResetKind.FUNCTION_LEVEL);
        assertFalse(one.guest.interrupts().pin());
        assertNull(one.module.contextViews().stream().findAny().orElse(null));
    }

    /** The consumer sleeps on its interrupt after each element it does not find, the producer never knows. */
    @Test
    void consumerThatSleepsNeverMissesAnElement() {
        connect(0);
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        int elements = 4000;
        TestThread producer = TestThread.start(() -> {
            for (int i = 0; i < elements; i++) {
                assertEquals(
                        Completion.OK,
                        p.put(2, ring.id, KEY)
                                .tag(i)
                                .waiting(9_000_000)
                                .inline(new byte[8])
                                .run()
                                .status());
            }
        });
        int slept = 0;
        for (int i = 0; i < elements; ) {
            int seen = events(two, 0);
            SimulatedRing.Element e = ring.poll();
            if (e == null) {
                ring.notifyAt(ring.head);
                // As bp_ring_arm_when(): either the module sees notify_event, or this sees the element.
                if (!ring.hasElement()) {
                    slept++;
                    two.guest.interrupts().await("an event after " + i, () -> events(two, 0) != seen);
                }
                continue;
            }
            assertEquals(i++, e.tag());
            if (ring.wantsSpace()) {
                owner.ring();
            }
        }
        producer.finish();
        assertTrue(slept > 0, "it did sleep");
    }
}
