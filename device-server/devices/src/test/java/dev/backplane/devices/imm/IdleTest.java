// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Contexts without work cost nothing, and the first action after a sleep is done without anybody spinning. */
@Timeout(60)
class IdleTest {
    private static long wakeups(TestFabric net) {
        return net.fabric.counters().stream().mapToLong(g -> g.get("wakeups")).sum();
    }

    @Test
    void thousandMappedContextsWakeNobody() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withContexts(1024))) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess[] processes = new SimulatedProcess[1024];
            for (int n = 0; n < processes.length; n++) {
                processes[n] = one.open(n);
                assertTrue(processes[n].doorbellWanted());
            }
            SimulatedRing ring = one.ring(processes[0], 0, 4096, 0, KEY);
            for (SimulatedProcess p : processes) {
                assertEquals(Completion.OK, p.put(1, ring.id, KEY).room(8).run().status());
                ring.poll();
            }
            TestFabric.await("sleep", net.fabric::idle);
            for (SimulatedProcess p : processes) {
                assertTrue(p.doorbellWanted(), "context " + p.context + " sleeps");
            }
            long before = wakeups(net);
            long submitted = net.workers.counters().get("submitted");
            LockSupport.parkNanos(200_000_000);
            assertTrue(net.fabric.idle());
            assertEquals(before, wakeups(net), "nobody woke up while nothing happened");
            assertEquals(submitted, net.workers.counters().get("submitted"));
        }
    }

    @Test
    void firstActionAfterSleepTakesOneDoorbell() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withSpinMicros(1))) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess owner = one.open(0);
            SimulatedRing ring = one.ring(owner, 0, 4096, 0, KEY);
            SimulatedProcess p = one.open(1);
            for (int i = 0; i < 300; i++) {
                TestFabric.await("sleep", () -> net.fabric.idle() && p.doorbellWanted());
                long rung = p.doorbells;
                p.put(1, ring.id, KEY).tag(i).inline(new byte[8]).submit();
                assertEquals(rung + 1, p.doorbells);
                assertEquals(Completion.OK, p.await().status());
                assertEquals(i, ring.poll().tag());
            }
        }
    }

    /** The race between falling asleep and submitting, many times at the edge: no action is ever left lying. */
    @Test
    void noActionIsLostAtTheEdgeOfSleep() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withSpinMicros(2))) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess p = one.open(0);
            Random random = new Random(6);
            int actions = 20_000;
            for (int i = 0; i < actions; i++) {
                assertEquals(
                        Completion.OK, p.action(Action.CMD_NOP, 0, 0, 0).run().status());
                for (int spin = random.nextInt(400); spin > 0; spin--) {
                    Thread.onSpinWait();
                }
            }
            TestFabric.await("all actions to be counted", () -> one.count("actions") == actions);
            assertTrue(one.count("sleeps") > 0, one.module.counters().toString());
        }
    }

    @Test
    void busyProcessRingsNoDoorbell() {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(1, true))) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess p = one.open(0);
            assertFalse(p.doorbellWanted());
            for (int i = 0; i < 1000; i++) {
                p.action(Action.CMD_NOP, 0, 0, 0).run();
            }
            assertEquals(0, p.doorbells);
            assertEquals(0, one.count("doorbells"));
        }
    }
}
