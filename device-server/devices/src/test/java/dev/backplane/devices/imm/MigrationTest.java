// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.Node;
import dev.backplane.devices.sim.SimulatedGuest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stop, save, restore, resume: everything goes on where it was, each action is done once, bad states are refused. */
@Timeout(60)
class MigrationTest {
    private static MemorySegment save(MessagingModule module) {
        MemorySegment state = Arena.ofAuto().allocate(module.stateBytes(), 8);
        module.save(state);
        return state;
    }

    private static MessagingModule module(SimulatedDriver d) {
        return d.module;
    }

    @Test
    void stoppedModuleDoesNothingAndGoesOnWhenResumed() {
        try (TestFabric net = new TestFabric()) {
            SimulatedDriver one = net.node(1);
            SimulatedDriver two = net.node(2);
            SimulatedProcess owner = two.open(0);
            SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
            SimulatedProcess p = one.open(0);
            assertEquals(Completion.OK, p.put(2, ring.id, KEY).room(8).run().status());

            module(one).stop();
            p.put(2, ring.id, KEY).tag(1).room(8).submit();
            p.ring();
            SimulatedProcess witness = two.open(1);
            assertEquals(
                    Completion.OK,
                    witness.put(2, ring.id, KEY).tag(2).room(8).run().status());
            assertNull(p.poll());
            assertEquals(2, module(two).ringViews().get(0).put());
            module(one).resume();
            assertEquals(Completion.OK, p.await().status());
            assertEquals(0, ring.poll().tag());
            assertEquals(2, ring.poll().tag());
            assertEquals(1, ring.poll().tag());

            module(two).stop();
            assertEquals(
                    Completion.UNREACHABLE, p.put(2, ring.id, KEY).room(8).run().status());
            module(two).resume();
            assertEquals(Completion.OK, p.put(2, ring.id, KEY).room(8).run().status());
        }
    }

    @Test
    void actionThatWaitsWhenStoppedWaitsAnewAndIsDoneOnce() {
        try (TestFabric net = new TestFabric()) {
            SimulatedDriver one = net.node(1);
            SimulatedDriver two = net.node(2);
            SimulatedProcess owner = two.open(0);
            SimulatedRing ring = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            SimulatedProcess p = one.open(0);
            p.get(2, ring.id, KEY).room(8).waiting(9_000_000).submit();
            TestFabric.await("a wait", () -> one.count("waits") == 1);
            module(one).stop();
            assertEquals(
                    Completion.OK,
                    owner.put(2, ring.id, KEY).tag(4).room(8).run().status());
            assertNull(p.poll());
            module(one).resume();
            SimulatedProcess.Result r = p.await();
            assertEquals(Completion.OK, r.status());
            assertEquals(4, r.tag());
            assertEquals(Completion.EMPTY, p.get(2, ring.id, KEY).room(8).run().status());
        }
    }

    /** The saved module is resumed by another server; the guest's memory goes with it. */
    @Test
    void savedModuleGoesOnInAnotherServer() {
        Random random = new Random(12);
        try (TestFabric from = new TestFabric();
                TestFabric to = new TestFabric()) {
            SimulatedDriver one = from.node(1);
            SimulatedProcess owner = one.open(2);
            SimulatedRing ring = one.ring(owner, 1, 8192, 0, KEY);
            SimulatedRing shared = one.ring(owner, 5, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            SimulatedProcess p = one.open(7);
            one.register(p, 0, one.guest.allocate(10_000, 64), 9000, 7, KEY);
            for (int i = 0; i < 50; i++) {
                p.put(1, ring.id, KEY)
                        .tag(i)
                        .inline(new byte[random.nextInt(300)])
                        .run();
                if (i >= 5) {
                    assertEquals(i - 5, ring.poll().tag());
                }
            }
            p.put(1, shared.id, KEY).tag(70).inline(new byte[9]).run();
            module(one).stop();
            MemorySegment state = save(module(one));
            assertArrayEquals(
                    state.toArray(ValueLayout.JAVA_BYTE), save(module(one)).toArray(ValueLayout.JAVA_BYTE));

            MessagingModule there = to.fabric.addNode(Node.of(1));
            try (SimulatedGuest moved = new SimulatedGuest(64 << 20)) {
                moved.ram().copyFrom(one.guest.ram());
                moved.attach(there);
                there.stop();
                there.restore(state);
                assertArrayEquals(
                        state.toArray(ValueLayout.JAVA_BYTE), save(there).toArray(ValueLayout.JAVA_BYTE));
                there.resume();
                assertEquals("running", there.stateName());
                assertEquals(module(one).ringViews(), there.ringViews());

                SimulatedDriver driver = SimulatedDriver.restored(there, moved, one);
                SimulatedRing movedRing = new SimulatedRing(driver, ring.pages, ring.capacity);
                movedRing.id = ring.id;
                movedRing.setHead(ring.head);
                SimulatedProcess movedProcess = p.movedTo(driver);
                SimulatedProcess.Result r = movedProcess
                        .put(1, ring.id, KEY)
                        .tag(50)
                        .inline(new byte[10])
                        .run();
                assertEquals(Completion.OK, r.status());
                assertEquals(50, r.value(), "the sequence goes on");
                for (int i = 45; i <= 50; i++) {
                    SimulatedRing.Element e = movedRing.poll();
                    assertNotNull(e, "element " + i);
                    assertEquals(i, e.tag());
                }
                r = movedProcess.get(1, shared.id, KEY).room(64).run();
                assertEquals(Completion.OK, r.status());
                assertEquals(70, r.tag());
                r = movedProcess
                        .action(Action.CMD_FETCH_ADD, 1, p.context << 16, KEY)
                        .operands(3, 0)
                        .run();
                assertEquals(Completion.OK, r.status());
            }
        }
    }

    @Test
    void badStatesAreRefusedByNameAndLeaveAResetModule() {
        Random random = new Random(13);
        try (TestFabric net =
                new TestFabric(MessagingConfig.defaults().withContexts(4).withRings(4))) {
            SimulatedDriver one = net.node(1);
            SimulatedProcess owner = one.open(2);
            SimulatedRing ring = one.ring(owner, 1, 8192, 0, KEY);
            assertEquals(Completion.OK, owner.put(1, ring.id, KEY).room(8).run().status());
            module(one).stop();
            byte[] good = save(module(one)).toArray(ValueLayout.JAVA_BYTE);

            assertThrows(IllegalArgumentException.class, () -> module(one).restore(MemorySegment.ofArray(new byte[8])));
            int refused = 0;
            for (int i = 0; i < 2000; i++) {
                byte[] bad = good.clone();
                for (int n = 0; n < 1 + random.nextInt(3); n++) {
                    bad[random.nextInt(bad.length)] = (byte) random.nextInt();
                }
                try {
                    module(one)
                            .restore(MemorySegment.ofArray(
                                    i % 10 == 0 ? Arrays.copyOf(bad, random.nextInt(bad.length)) : bad));
                } catch (IllegalArgumentException e) {
                    refused++;
                    assertTrue(e.getMessage().startsWith("saved messaging module: "), e.getMessage());
                    assertEquals("idle", module(one).stateName());
                }
            }
            assertTrue(refused > 100, "refused " + refused);
            module(one).restore(MemorySegment.ofArray(good));
            module(one).resume();
            assertEquals("running", module(one).stateName());
            assertEquals(Completion.OK, owner.put(1, ring.id, KEY).room(8).run().status());
        }
    }
}
