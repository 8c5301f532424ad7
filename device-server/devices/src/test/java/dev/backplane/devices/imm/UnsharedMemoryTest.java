// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.sim.MessageMemory;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.DmaTransport;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Guests that do not share their memory: every action works, by messages, between them and with others; each is waited for
 * by a thread of its own alone, and one that does not answer holds up nobody else.
 */
@Timeout(60)
class UnsharedMemoryTest {
    private static final int CAPACITY = 256 << 10;
    private static final int BYTES = 300 << 10;

    private TestFabric net;
    private SimulatedDriver slow;
    private SimulatedDriver other;
    private SimulatedDriver fast;
    private MessageMemory messages;

    @BeforeEach
    void connect() {
        net = new TestFabric();
        slow = net.unsharedNode(1);
        other = net.unsharedNode(2);
        fast = net.node(3);
        messages = net.messages(slow);
    }

    @AfterEach
    void disconnect() {
        net.messages(slow).silent(false);
        net.messages(other).silent(false);
        net.close();
    }

    private SimulatedDriver node(int id) {
        return List.of(slow, other, fast).get(id - 1);
    }

    private static byte[] random(int seed, int bytes) {
        byte[] data = new byte[bytes];
        new Random(seed).nextBytes(data);
        return data;
    }

    private static SimulatedProcess.Result ok(SimulatedProcess.Result r) {
        assertEquals(Completion.OK, r.status(), "status");
        return r;
    }

    /** A process with {@link #BYTES} of memory 0, and where that is. */
    private record Payload(SimulatedProcess process, long address) {
        void put(byte[] data) {
            process.driver.guest.put(address, data);
        }

        byte[] get(int bytes) {
            return process.driver.guest.get(address, bytes);
        }
    }

    private static Payload payload(SimulatedDriver d, int context, int flags) {
        SimulatedProcess p = d.open(context);
        long at = d.guest.allocate(BYTES, 4096);
        d.register(p, 0, at, BYTES, flags, KEY);
        return new Payload(p, at);
    }

    private void onlyItsOwnThread(SimulatedDriver d) {
        assertEquals(
                Set.of("node" + d.module.node().id() + ".imm slow"),
                net.messages(d).threads());
    }

    @ParameterizedTest
    @CsvSource({"1, 3", "3, 1", "1, 2", "2, 1", "1, 1"})
    void putsArriveInOrderAndGetsBringThemBack(int from, int to) {
        SimulatedDriver target = node(to);
        Payload sender = payload(node(from), 0, 0);
        SimulatedProcess p = sender.process;
        SimulatedProcess owner = target.open(1);
        SimulatedRing ring = target.ring(owner, 0, CAPACITY, 0, KEY);
        SimulatedRing shared = target.ring(owner, 1, CAPACITY, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        byte[] data = random(from, 64 << 10);
        sender.put(data);
        for (int i = 0; i < 5; i++) {
            ok(p.put(to, ring.id, KEY).tag(i).inline(random(i, 100)).run());
            assertEquals(
                    60_000,
                    ok(p.put(to, ring.id, KEY).tag(100 + i).memory(0, i, 60_000).run())
                            .length());
            SimulatedRing.Element small = ring.poll();
            SimulatedRing.Element large = ring.poll();
            assertEquals(i, small.tag());
            assertEquals(100 + i, large.tag());
            assertEquals(2L * i + 1, large.sequence());
            assertArrayEquals(random(i, 100), small.payload());
            assertArrayEquals(Arrays.copyOfRange(data, i, i + 60_000), large.payload());

            ok(p.put(to, shared.id, KEY).tag(7).memory(0, 0, 1000 + i).run());
            SimulatedProcess.Result got =
                    ok(p.get(to, shared.id, KEY).memory(0, 100_000, 50_000).run());
            assertEquals(1000 + i, got.length());
            assertEquals(7, got.tag());
            assertEquals(from, got.node());
            assertArrayEquals(Arrays.copyOf(data, 1000 + i), node(from).guest.get(sender.address + 100_000, 1000 + i));
        }
        assertEquals(Completion.EMPTY, p.get(to, shared.id, KEY).room(64).run().status());
        for (int id : List.of(from, to)) {
            if (id != 3) {
                onlyItsOwnThread(node(id));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 3", "3, 1", "1, 2", "1, 1"})
    void readsAndWritesOfAnyLength(int from, int to) {
        Payload near = payload(node(from), 0, 0);
        Payload far = payload(node(to), 1, AdminCommand.MEMORY_REMOTE_READ | AdminCommand.MEMORY_REMOTE_WRITE);
        int memory = 1 << 16;
        for (int bytes : new int[] {0, 1, 4097, 64 << 10, (64 << 10) + 1, BYTES - 5}) {
            byte[] data = random(bytes, bytes);
            near.put(data);
            assertEquals(
                    bytes,
                    ok(near.process
                                    .action(Action.CMD_WRITE, to, memory, KEY)
                                    .memory(0, 0, bytes)
                                    .remote(3)
                                    .run())
                            .length());
            assertArrayEquals(data, node(to).guest.get(far.address + 3, bytes));
            near.put(new byte[bytes]);
            ok(near.process
                    .action(Action.CMD_READ, to, memory, KEY)
                    .memory(0, 0, bytes)
                    .remote(3)
                    .run());
            assertArrayEquals(data, near.get(bytes));
        }
        assertEquals(
                Completion.BAD_ADDRESS,
                near.process
                        .action(Action.CMD_WRITE, to, memory, KEY)
                        .memory(0, 0, BYTES)
                        .remote(1)
                        .run()
                        .status());
        assertEquals(
                Completion.DENIED,
                near.process
                        .action(Action.CMD_READ, to, memory, KEY + 1)
                        .memory(0, 0, 8)
                        .run()
                        .status());
    }

    @Test
    void atomicsAreAtomic() {
        Payload target = payload(slow, 0, AdminCommand.MEMORY_REMOTE_ATOMIC);
        target.process.driver.guest.setLong(target.address, 0);
        List<TestThread> threads = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            SimulatedProcess p = node(id).open(5);
            threads.add(TestThread.start(() -> {
                for (int i = 0; i < 50; i++) {
                    ok(p.action(Action.CMD_FETCH_ADD, 1, 0, KEY).operands(3, 0).run());
                }
            }));
        }
        threads.forEach(TestThread::finish);
        assertEquals(450, slow.guest.getLong(target.address));
        SimulatedProcess p = fast.open(6);
        assertEquals(
                450,
                ok(p.action(Action.CMD_COMPARE_SWAP, 1, 0, KEY).operands(450, 9).run())
                        .value());
        assertEquals(9, slow.guest.getLong(target.address));
        onlyItsOwnThread(slow);
    }

    @Test
    void anElementIsAsLongAsTheBufferAtMost() {
        SimulatedRing ring = slow.ring(slow.open(1), 0, 4 * CAPACITY, 0, KEY);
        SimulatedRing there = fast.ring(fast.open(1), 0, 4 * CAPACITY, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess here = payload(fast, 0, 0).process;
        SimulatedProcess far = payload(slow, 0, 0).process;
        ok(here.put(1, ring.id, KEY).memory(0, 0, Request.STAGED_BYTES).run());
        SimulatedProcess.Result r =
                here.put(1, ring.id, KEY).memory(0, 0, Request.STAGED_BYTES + 1).run();
        assertEquals(Completion.TOO_LONG, r.status());
        assertEquals(Request.STAGED_BYTES, r.length());
        assertEquals(
                Completion.TOO_LONG,
                far.put(3, there.id, KEY)
                        .memory(0, 0, Request.STAGED_BYTES + 1)
                        .run()
                        .status());
        // between two that share their memory it is no matter, but one that does not cannot take it
        ok(here.put(3, there.id, KEY).memory(0, 0, 100_000).run());
        assertEquals(
                Completion.TOO_LONG,
                far.get(3, there.id, KEY).memory(0, 0, BYTES).run().status());
        ok(here.get(3, there.id, KEY).memory(0, 0, BYTES).run());
    }

    @Test
    void waitsForRoomAndForElements() {
        SimulatedProcess owner = slow.open(1);
        SimulatedRing ring = slow.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = fast.open(0);
        while (p.put(1, ring.id, KEY).inline(new byte[900]).run().status() == Completion.OK) {}
        p.put(1, ring.id, KEY).inline(new byte[900]).waiting(10_000_000).submit();
        TestFabric.await("wish for room", ring::wantsSpace);
        ring.poll();
        ring.poll(); // the first leaves no room in one piece
        owner.ring();
        ok(p.await());

        SimulatedRing shared = slow.ring(owner, 1, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess consumer = other.open(0);
        consumer.get(1, shared.id, KEY).room(100).waiting(10_000_000).submit();
        ok(p.put(1, shared.id, KEY).inline(random(1, 50)).run());
        assertEquals(50, ok(consumer.await()).length());
        assertEquals(
                Completion.TIMED_OUT,
                consumer.get(1, shared.id, KEY).room(100).waiting(1000).run().status());
    }

    @Test
    void theDriverHearsOfEvents() {
        SimulatedProcess owner = slow.open(2);
        SimulatedRing ring = slow.ring(owner, 0, 4096, 0, KEY);
        ring.notifyAt(0);
        ok(fast.open(0).put(1, ring.id, KEY).inline(new byte[8]).run());
        slow.guest.interrupts().await(1 + 2, 1);
        assertEquals(1, slow.guest.getInt(slow.eventTable + 4 * 2));
    }

    @Test
    void aClientThatDoesNotAnswerHoldsUpNobodyElse() throws Exception {
        SimulatedRing stuck = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        SimulatedRing theirs = other.ring(other.open(1), 0, CAPACITY, 0, KEY);
        SimulatedRing ours = fast.ring(fast.open(1), 0, CAPACITY, 0, KEY);
        Payload silent = payload(slow, 0, 0);
        SimulatedProcess inline = slow.open(3);
        SimulatedProcess waiting = fast.open(2);
        SimulatedProcess p = fast.open(3);
        SimulatedProcess q = payload(other, 3, 0).process;
        messages.silent(true);
        waiting.put(1, stuck.id, KEY).inline(new byte[8]).submit();
        silent.process.put(3, ours.id, KEY).memory(0, 0, 1000).submit();
        assertTrue(messages.awaitWaiting());
        for (int i = 0; i < 100; i++) {
            ok(p.put(3, ours.id, KEY).inline(new byte[8]).run());
            ok(p.put(2, theirs.id, KEY).inline(new byte[8]).run());
            ok(q.put(3, ours.id, KEY).memory(0, 0, 500).run());
            ours.poll();
            ours.poll();
            theirs.poll();
        }
        assertEquals(ImmRegisters.STATE_RUNNING, slow.status());
        assertNull(waiting.poll());
        assertNull(silent.process.poll());
        // who waits for it can leave, and its node's own registers answer
        fast.close(waiting);
        inline.put(3, ours.id, KEY).inline(new byte[8]).submit();
        slow.guest.reset(ResetKind.FUNCTION_LEVEL);
        assertEquals(ImmRegisters.STATE_IDLE, slow.status());
        assertEquals(
                Completion.UNREACHABLE,
                p.put(1, stuck.id, KEY).inline(new byte[8]).run().status());
        messages.silent(false);
        slow.enable();
        SimulatedRing again = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        ok(p.put(1, again.id, KEY).inline(new byte[8]).run());
        onlyItsOwnThread(slow);
    }

    @Test
    void anUnmappingDoesNotWaitAndWhatItInterruptsIsDoneOnce() throws Exception {
        Payload memory = payload(slow, 0, AdminCommand.MEMORY_REMOTE_READ);
        SimulatedRing ring = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        SimulatedProcess p = fast.open(0);
        SimulatedProcess reader = payload(fast, 1, 0).process;
        long window = 0x7_0000_0000L;
        for (int i = 0; i < 20; i++) {
            slow.guest.memory().map(window, 4096, null, true, () -> {});
            byte[] data = random(i, 3000);
            memory.put(data);
            messages.silent(true);
            p.put(1, ring.id, KEY).tag(i).inline(random(i, 90)).submit();
            reader.action(Action.CMD_READ, 1, 0, KEY).memory(0, 0, 3000).submit();
            memory.process.put(1, ring.id, KEY).tag(1000 + i).memory(0, 0, 3000).submit();
            assertTrue(messages.awaitWaiting());
            slow.guest.memory().unmap(window, 4096);
            messages.silent(false);
            ok(p.await());
            ok(reader.await());
            ok(memory.process.await());
            long first = ring.poll().tag();
            long second = ring.poll().tag();
            Set<Long> tags = Set.of(first, second);
            assertEquals(Set.of((long) i, 1000L + i), tags);
            assertNull(ring.poll());
        }
        assertEquals(ImmRegisters.STATE_RUNNING, slow.status());
        assertEquals(RingHeader.STATE_OPEN, ring.state());
    }

    @Test
    void commandsAreBusyUntilTheClientAnswers() throws Exception {
        SimulatedProcess p = slow.open(0);
        long refused = slow.count("bad_accesses");
        messages.silent(true);
        slow.command(AdminCommand.OP_CONTEXT_CLOSE, p).ring();
        assertTrue(messages.awaitWaiting());
        assertEquals(AdminCommand.STATUS_BUSY, slow.adminStatus());
        slow.guest.write32(0, ImmRegisters.ADMIN_DOORBELL, 1);
        assertEquals(refused + 1, slow.count("bad_accesses"), "a second command meanwhile");
        messages.silent(false);
        TestFabric.await("the command", () -> slow.adminStatus() == AdminCommand.STATUS_OK);
        assertEquals(ContextPage.STATE_CLOSED, p.state());

        messages.silent(true);
        slow.command(AdminCommand.OP_CONTEXT_OPEN).u32(AdminCommand.CONTEXT, 0).ring();
        assertTrue(messages.awaitWaiting());
        slow.guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        assertEquals(AdminCommand.STATUS_OK, slow.adminStatus(), "forgotten");
        assertEquals(1, slow.count("admin_interrupted"));
        messages.silent(false);
        slow.enable();
        slow.open(0);
    }

    @Test
    void anInitiatorThatIsStoppedDoesNotRepeatWhatMayHaveHappened() throws Exception {
        SimulatedRing ring = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        SimulatedProcess p = fast.open(0);
        messages.silent(true);
        p.put(1, ring.id, KEY).tag(1).inline(new byte[8]).submit();
        assertTrue(messages.awaitWaiting());
        fast.module.stop();
        messages.silent(false);
        TestFabric.await("the element", ring::hasElement);
        fast.module.resume();
        assertEquals(Completion.ABORTED, p.await().status());
        assertEquals(1, ring.poll().tag());
        ok(p.put(1, ring.id, KEY).tag(2).inline(new byte[8]).run());
        assertEquals(2, ring.poll().tag());
        assertNull(ring.poll());
    }

    @Test
    void aStoppedTargetGoesOnWhenItIsResumed() throws Exception {
        SimulatedRing ring = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        SimulatedProcess own = payload(slow, 2, 0).process;
        messages.silent(true);
        own.put(3, 0, KEY).memory(0, 0, 100).submit();
        slow.command(AdminCommand.OP_CONTEXT_OPEN).u32(AdminCommand.CONTEXT, 7).ring();
        assertTrue(messages.awaitWaiting());
        slow.module.stop();
        assertEquals(AdminCommand.STATUS_BUSY, slow.adminStatus());
        messages.silent(false);
        slow.module.resume();
        TestFabric.await("the command", () -> slow.adminStatus() == AdminCommand.STATUS_OK);
        assertEquals(Completion.NO_SUCH_RING, own.await().status());
        ok(fast.open(0).put(1, ring.id, KEY).inline(new byte[8]).run());
    }

    @Test
    void memoryThatIsNotSharedAmongOtherThatIsSlowsItsGuestDown() throws Exception {
        SimulatedProcess p = fast.open(0);
        SimulatedRing ring = fast.ring(fast.open(1), 0, CAPACITY, 0, KEY);
        ok(p.put(3, ring.id, KEY).inline(new byte[8]).run());
        long window = 0x8_0000_0000L;
        MemorySegment bytes = MemorySegment.ofArray(random(1, 8192));
        PartlyShared part = new PartlyShared(window, bytes);
        fast.guest.memory().transport(part);
        fast.guest.memory().map(window, bytes.byteSize(), null, true, () -> {});
        fast.registerPages(p, 3, new long[] {window, window + 4096}, 0, 8192, 0, 0)
                .ok();
        assertTrue(fast.module.byMessage());
        ring.poll();
        ok(p.put(3, ring.id, KEY).memory(3, 10, 5000).run());
        assertArrayEquals(
                Arrays.copyOfRange(random(1, 8192), 10, 5010), ring.poll().payload());
        assertEquals(Set.of("node3.imm slow"), part.threads);
    }

    /** One window of a guest that is not shared. */
    private static final class PartlyShared implements DmaTransport {
        private final long window;
        private final MemorySegment bytes;
        private final Set<String> threads = ConcurrentHashMap.newKeySet();

        PartlyShared(long window, MemorySegment bytes) {
            this.window = window;
            this.bytes = bytes;
        }

        @Override
        public void read(long iova, MemorySegment to, long offset, long count) {
            threads.add(Thread.currentThread().getName());
            MemorySegment.copy(bytes, iova - window, to, offset, count);
        }

        @Override
        public void write(long iova, MemorySegment from, long offset, long count) {
            threads.add(Thread.currentThread().getName());
            MemorySegment.copy(from, offset, bytes, iova - window, count);
        }
    }

    @Test
    void manyProducersOfAllKinds() {
        SimulatedRing ring = slow.ring(slow.open(1), 0, CAPACITY, 0, KEY);
        int each = 40;
        List<TestThread> producers = new ArrayList<>();
        for (int id = 1; id <= 3; id++) {
            SimulatedProcess p = payload(node(id), 4, 0).process;
            producers.add(TestThread.start(() -> {
                for (int i = 0; i < each; i++) {
                    ok(p.put(1, ring.id, KEY)
                            .tag(i)
                            .memory(0, 0, 100 + i)
                            .waiting(10_000_000)
                            .run());
                }
            }));
        }
        long[] next = new long[4];
        for (int i = 0; i < 3 * each; i++) {
            TestFabric.await("an element", ring::hasElement);
            SimulatedRing.Element e = ring.poll();
            assertEquals(i, e.sequence());
            assertEquals(next[e.node()]++, e.tag(), "in the order of node " + e.node());
        }
        producers.forEach(TestThread::finish);
        for (SimulatedDriver d : List.of(slow, other)) {
            onlyItsOwnThread(d);
        }
    }
}
