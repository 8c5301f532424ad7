// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** READ, WRITE, FETCH_ADD and COMPARE_SWAP on registered memory of another node, and large payloads of PUT and GET. */
@Timeout(60)
class OneSidedTest {
    private static final int ALL =
            AdminCommand.MEMORY_REMOTE_READ | AdminCommand.MEMORY_REMOTE_WRITE | AdminCommand.MEMORY_REMOTE_ATOMIC;
    private static final int BYTES = 1 << 20;

    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedDriver two;
    private SimulatedProcess owner;
    private SimulatedProcess process;
    private final Random random = new Random(8);

    @BeforeEach
    void connect() {
        net = new TestFabric(MessagingConfig.defaults().withPollers(2, false));
        one = net.node(1);
        two = net.node(2);
        owner = two.open(4);
        process = one.open(0);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    private static int name(SimulatedProcess owner, int memory) {
        return owner.context << 16 | memory;
    }

    /** Registers scattered pages; returns them. */
    private static long[] scatter(SimulatedProcess p, int id, int bytes, int flags) {
        long[] pages = p.driver.scattered(bytes / 4096);
        p.driver.registerPages(p, id, pages, 0, bytes, flags, KEY).ok();
        return pages;
    }

    private static void fill(SimulatedDriver d, long[] pages, byte[] bytes) {
        for (int i = 0; i < pages.length; i++) {
            byte[] page = new byte[4096];
            System.arraycopy(bytes, i * 4096, page, 0, 4096);
            d.guest.put(pages[i], page);
        }
    }

    private static byte[] read(SimulatedDriver d, long[] pages) {
        byte[] all = new byte[pages.length * 4096];
        for (int i = 0; i < pages.length; i++) {
            System.arraycopy(d.guest.get(pages[i], 4096), 0, all, i * 4096, 4096);
        }
        return all;
    }

    private SimulatedProcess.ActionFields action(int command) {
        return process.action(command, 2, name(owner, 3), KEY);
    }

    @Test
    void writeAndReadMoveAnyRangeBetweenScatteredPages() {
        long[] mine = scatter(process, 1, BYTES, 0);
        long[] theirs = scatter(owner, 3, BYTES, ALL);
        byte[] source = new byte[BYTES];
        random.nextBytes(source);
        byte[] expected = new byte[BYTES];
        fill(one, mine, source);
        for (int i = 0; i < 60; i++) {
            int length = random.nextInt(i % 4 == 0 ? BYTES : 9000);
            int from = random.nextInt(BYTES - length + 1);
            int to = random.nextInt(BYTES - length + 1);
            SimulatedProcess.Result r =
                    action(Action.CMD_WRITE).memory(1, from, length).remote(to).run();
            assertEquals(Completion.OK, r.status());
            assertEquals(length, r.length());
            System.arraycopy(source, from, expected, to, length);
        }
        assertArrayEquals(expected, read(two, theirs));
        fill(one, mine, new byte[BYTES]);
        assertEquals(
                Completion.OK, action(Action.CMD_READ).memory(1, 0, BYTES).run().status());
        assertArrayEquals(expected, read(one, mine));
    }

    @Test
    void inlinePayloadWorksBothWays() {
        scatter(owner, 3, 8192, ALL);
        byte[] payload = new byte[300];
        random.nextBytes(payload);
        assertEquals(
                Completion.OK,
                action(Action.CMD_WRITE).inline(payload).remote(4000).run().status());
        long room = process.inlineOffset();
        assertEquals(
                Completion.OK,
                action(Action.CMD_READ).room(300).remote(4000).run().status());
        assertArrayEquals(payload, process.inline(room, 300));
    }

    @Test
    void rightsAreCheckedAtTheTarget() {
        scatter(owner, 3, 8192, AdminCommand.MEMORY_REMOTE_READ);
        assertEquals(Completion.OK, action(Action.CMD_READ).room(8).run().status());
        assertEquals(Completion.DENIED, action(Action.CMD_WRITE).room(8).run().status());
        assertEquals(Completion.DENIED, action(Action.CMD_FETCH_ADD).run().status());
        assertEquals(
                Completion.DENIED,
                process.action(Action.CMD_READ, 2, name(owner, 3), KEY + 1)
                        .room(8)
                        .run()
                        .status());
        assertEquals(
                Completion.NO_SUCH_MEMORY,
                process.action(Action.CMD_READ, 2, name(owner, 4), KEY)
                        .room(8)
                        .run()
                        .status());
        assertEquals(
                Completion.NO_SUCH_MEMORY,
                process.action(Action.CMD_READ, 2, -1, KEY).room(8).run().status());
        for (long offset : new long[] {8192 - 7, 8193, -8, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertEquals(
                    Completion.BAD_ADDRESS,
                    action(Action.CMD_READ).room(8).remote(offset).run().status());
        }
        two.command(AdminCommand.OP_MEMORY_UNREGISTER, owner)
                .u32(AdminCommand.MEMORY, 3)
                .ok();
        assertEquals(
                Completion.NO_SUCH_MEMORY, action(Action.CMD_READ).room(8).run().status());
        assertEquals(3, two.count("ring_denied"));
    }

    @Test
    void atomicsFromManyContextsLoseNothing() {
        long[] pages = scatter(owner, 3, 8192, ALL);
        int adds = 5000;
        List<TestThread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            SimulatedDriver d = t % 2 == 0 ? one : two;
            SimulatedProcess p = d.open(8 + t);
            long addend = t + 1L;
            threads.add(TestThread.start(() -> {
                long previous = -1;
                for (int i = 0; i < adds; i++) {
                    SimulatedProcess.Result r = p.action(Action.CMD_FETCH_ADD, 2, name(owner, 3), KEY)
                            .remote(4096 + 8)
                            .operands(addend, 0)
                            .run();
                    assertEquals(Completion.OK, r.status());
                    assertTrue(r.value() > previous, "the sum only grows");
                    previous = r.value();
                }
            }));
        }
        threads.forEach(TestThread::finish);
        assertEquals((1L + 2 + 3 + 4) * adds, two.guest.getLong(pages[1] + 8));
    }

    @Test
    void compareSwapSwapsOnlyWhatIsExpected() {
        long[] pages = scatter(owner, 3, 4096, ALL);
        two.guest.setLong(pages[0] + 16, 5);
        SimulatedProcess.Result r =
                action(Action.CMD_COMPARE_SWAP).remote(16).operands(5, 9).run();
        assertEquals(5, r.value());
        assertEquals(9, two.guest.getLong(pages[0] + 16));
        r = action(Action.CMD_COMPARE_SWAP).remote(16).operands(5, 11).run();
        assertEquals(9, r.value(), "the old value tells that it failed");
        assertEquals(9, two.guest.getLong(pages[0] + 16));
        for (long offset : new long[] {1, 4, 4096 - 4, 4096, -8}) {
            assertEquals(
                    Completion.BAD_ADDRESS,
                    action(Action.CMD_COMPARE_SWAP).remote(offset).run().status());
        }
    }

    @Test
    void largePayloadsTakeSeveralTurnsAndArriveWhole() {
        int capacity = 1 << 20;
        int length = capacity / 2 - 32;
        SimulatedRing ring = two.ring(owner, 0, capacity, 0, KEY);
        SimulatedRing shared = two.ring(owner, 1, capacity, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        long[] mine = scatter(process, 1, BYTES, 0);
        byte[] source = new byte[BYTES];
        random.nextBytes(source);
        fill(one, mine, source);
        SimulatedProcess small = one.open(9);
        for (int i = 0; i < 5; i++) {
            process.put(2, ring.id, KEY)
                    .memory(1, i * 100L, length)
                    .waiting(9_000_000)
                    .submit();
            small.put(2, ring.id, KEY).waiting(9_000_000).inline(new byte[50]).submit();
            int large = 0;
            for (int e = 0; e < 2; e++) {
                TestFabric.await("an element", ring::hasElement);
                SimulatedRing.Element element = ring.poll();
                if (element.context() == 0) {
                    large++;
                    byte[] part = new byte[length];
                    System.arraycopy(source, i * 100, part, 0, length);
                    assertArrayEquals(part, element.payload());
                } else {
                    assertEquals(50, element.payload().length);
                }
            }
            assertEquals(1, large);
            assertEquals(Completion.OK, small.await().status());
            assertEquals(Completion.OK, process.await().status());
            assertEquals(
                    Completion.OK,
                    process.put(2, shared.id, KEY).memory(1, i, length).run().status());
            assertEquals(
                    Completion.OK,
                    process.get(2, shared.id, KEY)
                            .memory(1, BYTES / 2, length)
                            .run()
                            .status());
            byte[] now = read(one, mine);
            for (int at = 0; at < length; at++) {
                assertEquals(now[i + at], now[BYTES / 2 + at], "byte " + at);
            }
            fill(one, mine, source);
        }
    }

    @Test
    void memoryThatBeginsInsideAPageIsFoundByteByByte() {
        long[] pages = two.scattered(3);
        two.registerPages(owner, 3, pages, 4090, 4108, ALL, KEY).ok();
        byte[] payload = new byte[384];
        random.nextBytes(payload);
        assertEquals(
                Completion.OK,
                action(Action.CMD_WRITE)
                        .inline(payload)
                        .remote(4108 - 384)
                        .run()
                        .status());
        byte[] all = read(two, pages);
        for (int i = 0; i < payload.length; i++) {
            assertEquals(payload[i], all[4090 + 4108 - 384 + i], "byte " + i);
        }
        assertEquals(
                Completion.BAD_ADDRESS,
                action(Action.CMD_WRITE)
                        .inline(payload)
                        .remote(4108 - 383)
                        .run()
                        .status());
    }
}
