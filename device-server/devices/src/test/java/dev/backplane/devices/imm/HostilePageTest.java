// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process writes what it likes all over its page: it hurts itself at most. */
@Timeout(60)
class HostilePageTest {
    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;
    private SimulatedProcess owner;
    private SimulatedProcess bystander;
    private SimulatedRing ring;

    @BeforeEach
    void connect() {
        net = new TestFabric();
        one = net.node(1);
        two = net.node(2);
        owner = two.open(0);
        ring = two.ring(owner, 0, 65_536, 0, KEY);
        bystander = one.open(1);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    private void bystanderWorks(long tag) {
        assertEquals(
                Completion.OK,
                bystander
                        .put(2, ring.id, KEY)
                        .tag(tag)
                        .inline(new byte[64])
                        .run()
                        .status());
        SimulatedRing.Element e;
        do {
            e = ring.poll();
            assertNotNull(e, "the bystander's element " + tag);
        } while (e.context() != bystander.context);
        assertEquals(tag, e.tag());
    }

    @ParameterizedTest
    @ValueSource(ints = {9, 100, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void impossibleSubmitStopsTheContextAlone(int submit) {
        SimulatedProcess hostile = one.open(0);
        hostile.store(submit);
        TestFabric.await("state ERROR", () -> hostile.state() == ContextPage.STATE_ERROR);
        assertEquals(1, one.count("bad_submits"));
        assertEquals(0, hostile.complete());
        hostile.ring();
        bystanderWorks(submit);
        assertEquals(1, one.guest.getInt(one.eventTable), "an event tells the process");
        one.close(hostile);
        SimulatedProcess next = one.open(0);
        assertEquals(Completion.OK, next.action(Action.CMD_NOP, 0, 0, 0).run().status());
    }

    @Test
    void deviceFieldsThatAProcessOverwritesAreNeverReadBack() {
        SimulatedProcess p = one.open(0);
        assertEquals(
                Completion.OK,
                p.put(2, ring.id, KEY).tag(1).inline(new byte[8]).run().status());
        for (int at = ContextPage.COMPLETE; at < ContextPage.ACTIONS; at += 4) {
            p.page.set(ValueLayout.JAVA_INT, at, 0x5a5a_5a5a);
        }
        p.put(2, ring.id, KEY).tag(2).inline(new byte[8]);
        p.store(2);
        p.ring();
        TestFabric.await("the second completion", () -> p.complete() == 2);
        assertNotNull(ring.poll());
        assertEquals(2, ring.poll().tag());
    }

    @Test
    void randomActionsEachEndInAStatus() {
        SimulatedProcess p = one.open(0);
        one.register(p, 3, one.guest.allocate(5000, 64), 5000, 7, KEY);
        Random random = new Random(11);
        for (int i = 0; i < 20_000; i++) {
            long at = ContextPage.ACTIONS + (i % ContextPage.SLOTS) * (long) Action.BYTES;
            byte[] action = new byte[Action.BYTES];
            random.nextBytes(action);
            // Mostly plausible in all but one or two fields, so that each check is reached.
            MemorySegment a = MemorySegment.ofArray(action);
            if (random.nextInt(8) != 0) {
                action[Action.COMMAND] = (byte) random.nextInt(8);
                action[Action.FLAGS] = (byte) random.nextInt(4);
            }
            a.set(ValueLayout.JAVA_LONG_UNALIGNED, Action.OPERAND, random.nextInt(3));
            if (random.nextInt(4) != 0) {
                a.set(ValueLayout.JAVA_SHORT_UNALIGNED, Action.TARGET_NODE, (short) (1 + random.nextInt(3)));
                a.set(ValueLayout.JAVA_INT_UNALIGNED, Action.RING, random.nextInt(4));
                a.set(ValueLayout.JAVA_LONG_UNALIGNED, Action.KEY, KEY);
            }
            if (random.nextInt(4) != 0) {
                a.set(ValueLayout.JAVA_INT_UNALIGNED, Action.LENGTH, random.nextInt(6000));
                a.set(ValueLayout.JAVA_INT_UNALIGNED, Action.MEMORY, random.nextBoolean() ? 3 : Action.INLINE);
                a.set(ValueLayout.JAVA_LONG_UNALIGNED, Action.OFFSET, random.nextInt(6000));
                a.set(ValueLayout.JAVA_LONG_UNALIGNED, Action.REMOTE_OFFSET, random.nextInt(6000));
            }
            MemorySegment.copy(action, 0, p.page, ValueLayout.JAVA_BYTE, at, action.length);
            p.store(i + 1);
            SimulatedProcess.Result r = p.await();
            assertTrue(r.status() >= Completion.OK && r.status() <= Completion.NO_SUCH_MEMORY, r.toString());
            while (ring.poll() != null) {
                // Some of them were whole.
            }
        }
        assertEquals(ContextPage.STATE_OPEN, p.state());
        bystanderWorks(99);
    }

    @Test
    void pageThatChangesAllTheTimeHurtsNobody() {
        AtomicBoolean stop = new AtomicBoolean();
        SimulatedDriver driver = one;
        TestThread scribbler = TestThread.start(() -> {
            Random random = new Random(5);
            while (!stop.get()) {
                SimulatedProcess p;
                synchronized (driver) {
                    p = one.open(0);
                }
                for (int i = 0; i < 3000; i++) {
                    int at = random.nextInt(ContextPage.BYTES / 4) * 4;
                    if (at == ContextPage.SUBMIT) {
                        p.page.set(ValueLayout.JAVA_INT, at, random.nextInt(20) - 2);
                    } else {
                        p.page.set(ValueLayout.JAVA_INT, at, random.nextInt(4) == 0 ? random.nextInt() : 1);
                    }
                    if (random.nextInt(50) == 0) {
                        p.page.set(ValueLayout.JAVA_INT, ContextPage.SUBMIT, p.complete() + random.nextInt(9));
                        p.ring();
                    }
                }
                synchronized (driver) {
                    one.close(p);
                }
            }
        });
        try {
            for (int i = 0; i < 2000; i++) {
                bystanderWorks(i);
            }
        } finally {
            stop.set(true);
            scribbler.finish();
        }
        assertFalse(one.module.stateName().equals("failed"));
        assertEquals(RingHeader.STATE_OPEN, ring.state());
    }
}
