// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.sim.SimulatedGuest;
import dev.backplane.vfiouser.device.ResetKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ends of contexts, rings, memories and modules, and that nothing of what was reaches who comes after. */
@Timeout(60)
class LifeTest {
    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;

    @BeforeEach
    void connect() {
        net = new TestFabric(MessagingConfig.defaults().withPollers(2, false));
        one = net.node(1);
        two = net.node(2);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    /** A driver that gives the pages back at once: from the moment CLOSE returns they belong to somebody else. */
    @Test
    void onceAContextIsClosedNothingTouchesItsPageOrMemory() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing shared = two.ring(owner, 0, 65_536, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess feeder = two.open(1);
        long buffer = one.guest.allocate(8 * 4096, 4096);
        Random random = new Random(1);
        for (int life = 0; life < 400; life++) {
            for (int i = 0; i < 4; i++) {
                feeder.put(2, shared.id, KEY).inline(new byte[300]).run();
            }
            SimulatedProcess p = one.open(3);
            one.register(p, 0, buffer, 8 * 4096, 0, 0);
            for (int i = 0; i < ContextPage.SLOTS; i++) {
                p.get(2, shared.id, KEY)
                        .waiting(9_000_000)
                        .memory(i % 2 == 0 ? 0 : Action.INLINE, i * 300L, 300)
                        .submit();
            }
            for (int spin = random.nextInt(3000); spin > 0; spin--) {
                Thread.onSpinWait();
            }
            one.close(p);
            MemorySegment pages = one.guest.at(buffer, 8 * 4096);
            pages.fill((byte) 0x5a);
            p.page.fill((byte) 0x5a);
            // A late store would have to come while others work: let them.
            feeder.put(2, shared.id, KEY).inline(new byte[300]).run();
            for (long at = 0; at < pages.byteSize(); at += 4) {
                assertEquals(0x5a5a_5a5a, pages.get(ValueLayout.JAVA_INT, at), "memory at " + at + ", life " + life);
            }
            for (int at = 0; at < ContextPage.BYTES; at += 4) {
                assertEquals(0x5a5a_5a5a, p.page.get(ValueLayout.JAVA_INT, at), "page at " + at + ", life " + life);
            }
            while (feeder.get(2, shared.id, KEY).room(384).run().status() == Completion.OK) {
                // Empty for the next life.
            }
        }
    }

    @Test
    void generationsGrowAndOldOnesAreRefused() {
        SimulatedProcess first = one.open(0);
        one.close(first);
        assertEquals(
                AdminCommand.STATUS_BAD_CONTEXT,
                one.command(AdminCommand.OP_CONTEXT_CLOSE, first).status());
        SimulatedProcess second = one.open(0);
        assertNotEquals(first.generation, second.generation);
        assertEquals(
                AdminCommand.STATUS_STALE,
                one.command(AdminCommand.OP_CONTEXT_CLOSE, first).status());
        assertEquals(
                AdminCommand.STATUS_IN_USE,
                one.command(AdminCommand.OP_CONTEXT_OPEN)
                        .u32(AdminCommand.CONTEXT, 0)
                        .status());
        one.guest.reset(ResetKind.FUNCTION_LEVEL);
        one.enable();
        assertTrue(one.open(0).generation > second.generation, "generations survive a reset");
    }

    @ParameterizedTest
    @EnumSource(ResetKind.class)
    void resetMakesContextsDeadAndLeavesANewModule(ResetKind kind) {
        SimulatedProcess p = one.open(0);
        SimulatedRing ring = one.ring(p, 0, 4096, 0, KEY);
        SimulatedProcess other = two.open(0);
        assertEquals(Completion.OK, other.put(1, ring.id, KEY).room(8).run().status());
        p.page.set(ValueLayout.JAVA_INT, ContextPage.SUBMIT, 8);
        int epoch = one.guest.read32(0, ImmRegisters.EPOCH);
        one.guest.write32(0, ImmRegisters.SCRATCH, 77);

        one.guest.reset(kind);

        MemorySegment memory = MemorySegment.ofArray(one.guest.get(SimulatedGuest.RAM_BASE, 1 << 20));
        assertEquals(ContextPage.STATE_DEAD, p.state());
        assertEquals(epoch + 1, one.guest.read32(0, ImmRegisters.EPOCH));
        assertEquals(0, one.guest.read32(0, ImmRegisters.STATUS));
        assertEquals(0, one.guest.read32(0, ImmRegisters.SCRATCH));
        assertEquals(0, one.guest.read64(0, ImmRegisters.EVENT_TABLE));
        assertEquals(
                Completion.UNREACHABLE, other.put(1, ring.id, KEY).room(8).run().status());
        p.ring();
        assertEquals(-1, memory.mismatch(one.guest.at(SimulatedGuest.RAM_BASE, 1 << 20)), "memory is left alone");
        assertEquals(
                new MessagingModule(net.fabric, one.module.node()).block().mismatchAfterReset(one.module.block()),
                -1L,
                "but for epoch and generations all is as in a new module");

        one.enable();
        SimulatedProcess again = one.open(0);
        assertEquals(ContextPage.STATE_OPEN, again.state());
        assertEquals(
                Completion.NO_SUCH_RING,
                other.put(1, ring.id, KEY).room(8).run().status(),
                "rings are not there any more");
    }

    @Test
    void nodeThatIsKilledAndComesBackStartsAfresh() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        assertEquals(Completion.OK, p.put(2, ring.id, KEY).room(8).run().status());
        two.close();
        assertFalse(two.module.attached());
        assertEquals(
                Completion.UNREACHABLE, p.put(2, ring.id, KEY).room(8).run().status());
        assertEquals(
                Completion.UNREACHABLE,
                p.action(Action.CMD_READ, 2, 0, KEY).run().status());
        SimulatedDriver back = net.again(two);
        SimulatedProcess heir = back.open(0);
        SimulatedRing newRing = back.ring(heir, 0, 4096, 0, KEY);
        assertEquals(
                Completion.OK, p.put(2, newRing.id, KEY).tag(3).room(8).run().status());
        assertEquals(3, newRing.poll().tag());
        assertNull(newRing.poll());
    }

    /** Closes, resets and unmappings against traffic in both directions; the other node keeps working. */
    @Test
    void endsRaceWithTraffic() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 65_536, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        AtomicBoolean stop = new AtomicBoolean();
        SimulatedProcess steady = two.open(1);
        TestThread traffic = TestThread.start(() -> {
            for (int n = 0; !stop.get(); n++) {
                SimulatedProcess.Result r =
                        steady.put(2, ring.id, KEY).tag(n).inline(new byte[32]).run();
                assertTrue(r.status() == Completion.OK || r.status() == Completion.FULL, r.toString());
                for (int i = 0; i < 4; i++) {
                    r = steady.get(2, ring.id, KEY)
                            .memory(Action.INLINE, 0, 3000)
                            .run();
                    assertTrue(r.status() == Completion.OK || r.status() == Completion.EMPTY, r.toString());
                }
                // Rings of the dying node: whatever comes, it is an answer.
                r = steady.put(1, n % 4, KEY).inline(new byte[100]).run();
                assertTrue(
                        r.status() == Completion.OK
                                || r.status() == Completion.FULL
                                || r.status() == Completion.UNREACHABLE
                                || r.status() == Completion.NO_SUCH_RING,
                        r.toString());
            }
        });
        Random random = new Random(2);
        long[] pages = one.scattered(20);
        for (int life = 0; life < 300; life++) {
            SimulatedProcess p = one.open(0);
            one.registerPages(p, 0, pages, 0, 20 * 4096, 0, 0).ok();
            one.createRing(p, 0, 16_384, 0, KEY).ok();
            for (int i = 0; i < 6; i++) {
                p.put(2, ring.id, KEY).waiting(1000).memory(0, 20_480, 2000).submit();
            }
            switch (random.nextInt(3)) {
                case 0 -> one.close(p);
                case 1 -> {
                    one.guest.reset(ResetKind.FUNCTION_LEVEL);
                    one.enable();
                }
                default -> {
                    one.guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
                    assertEquals(0, one.guest.read32(0, ImmRegisters.CONTROL));
                    one.enable();
                }
            }
        }
        stop.set(true);
        traffic.finish();
        assertEquals(0, one.count("memory_faults") + two.count("memory_faults"));
        assertTrue(steady.inFlight() == 0);
    }

    @Test
    void unregisteredMemoryIsGoneForActionsInTheQueue() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing shared = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess p = one.open(0);
        long buffer = one.guest.allocate(4096, 4096);
        one.register(p, 7, buffer, 4096, 0, 0);
        p.get(2, shared.id, KEY).memory(7, 0, 4096).waiting(9_000_000).submit();
        TestFabric.await("a wait", () -> one.count("waits") == 1);
        one.command(AdminCommand.OP_MEMORY_UNREGISTER, p)
                .u32(AdminCommand.MEMORY, 7)
                .ok();
        byte[] before = one.guest.get(buffer, 4096);
        owner.put(2, shared.id, KEY).inline(new byte[] {1, 2, 3}).run();
        assertEquals(Completion.NO_SUCH_MEMORY, p.await().status());
        assertArrayEquals(before, one.guest.get(buffer, 4096));
        assertEquals(Completion.OK, owner.get(2, shared.id, KEY).room(8).run().status(), "the element is still there");
    }

    @Test
    void withoutBusMasterNothingIsDone() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        one.guest.busMaster(false);
        assertEquals(Completion.ABORTED, p.put(2, ring.id, KEY).room(8).run().status());
        one.guest.busMaster(true);
        two.guest.busMaster(false);
        assertEquals(
                Completion.UNREACHABLE, p.put(2, ring.id, KEY).room(8).run().status());
        two.guest.busMaster(true);
        assertEquals(Completion.OK, p.put(2, ring.id, KEY).room(8).run().status());
    }
}
