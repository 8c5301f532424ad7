// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a message costs, in counts that are the same on every machine; its heap is in {@link AllocationTest}. */
@Timeout(60)
class CostPerMessageTest {
    private static final int BATCHES = 200;

    /** Both processes poll: registers, doorbells, interrupts, admin commands and other threads have no part in it. */
    @Test
    void polledMessagesCostNoDoorbellNoInterruptAndNoEvent() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(1, true))) {
            SimulatedDriver one = net.node(1);
            SimulatedDriver two = net.node(2);
            SimulatedRing ring = two.ring(two.open(0), 0, 4096, 0, KEY);
            SimulatedProcess p = one.open(0);
            long admin = one.count("admin_commands") + two.count("admin_commands");
            long submitted = net.workers.counters().get("submitted");
            for (int i = 0; i < BATCHES; i++) {
                for (int n = 0; n < ContextPage.SLOTS; n++) {
                    p.put(2, ring.id, KEY).inline(new byte[48]).submit();
                }
                for (int n = 0; n < ContextPage.SLOTS; n++) {
                    assertEquals(Completion.OK, p.await().status());
                    assertNotNull(ring.poll());
                }
            }
            TestFabric.await("the counts", () -> one.count("puts") == (long) BATCHES * ContextPage.SLOTS);
            for (SimulatedDriver d : new SimulatedDriver[] {one, two}) {
                assertEquals(0, d.count("doorbells"));
                assertEquals(0, d.count("interrupts"));
                assertEquals(0, d.count("events"));
                assertEquals(0, d.guest.interrupts().total());
            }
            assertEquals(0, p.doorbells);
            assertEquals(admin, one.count("admin_commands") + two.count("admin_commands"));
            assertEquals(submitted, net.workers.counters().get("submitted"), "turns that another thread had to take");
            assertNull(ring.poll());
        }
    }

    /** A consumer that sleeps is woken once for a batch, by one event and one interrupt. */
    @Test
    void sleepingConsumerIsInterruptedOnceForABatch() {
        try (TestFabric net =
                new TestFabric(MessagingConfig.defaults().withPollers(1, true).withModerationMicros(0))) {
            SimulatedDriver one = net.node(1);
            SimulatedDriver two = net.node(2);
            SimulatedRing ring = two.ring(two.open(0), 0, 4096, 0, KEY);
            SimulatedProcess p = one.open(0);
            for (int i = 1; i <= BATCHES; i++) {
                ring.notifyAt(ring.tail());
                for (int n = 0; n < ContextPage.SLOTS; n++) {
                    p.put(2, ring.id, KEY).inline(new byte[48]).submit();
                }
                for (int n = 0; n < ContextPage.SLOTS; n++) {
                    assertEquals(Completion.OK, p.await().status());
                    assertNotNull(ring.poll());
                }
                two.guest.interrupts().await(1, i);
                assertEquals(i, two.guest.interrupts().total());
                assertEquals(i, two.guest.getIntAcquire(two.eventTable));
            }
            assertEquals(0, one.guest.interrupts().total(), "the producer polls");
        }
    }
}
