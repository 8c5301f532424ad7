// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An owner writes what it likes into its own ring: the ring is closed for it alone, and nothing leaves its memory. */
@Timeout(60)
class HostileRingTest {
    private static final int CAPACITY = 4096;

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

    private int put(SimulatedRing ring, int bytes) {
        return process.put(2, ring.id, KEY)
                .memory(Action.INLINE, 0, bytes)
                .run()
                .status();
    }

    private int get(SimulatedRing ring) {
        return process.get(2, ring.id, KEY)
                .memory(Action.INLINE, 0, ContextPage.INLINE_BYTES)
                .run()
                .status();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 32 * 1000, -32, Long.MIN_VALUE, Long.MAX_VALUE, 17})
    void impossibleHeadClosesTheRing(long head) {
        SimulatedRing ring = two.ring(owner, 0, CAPACITY, 0, KEY);
        SimulatedRing other = two.ring(owner, 1, CAPACITY, 0, KEY);
        ring.setHead(head);
        int status = Completion.OK;
        for (int i = 0; status == Completion.OK && i < 10; i++) {
            status = put(ring, 900);
        }
        assertEquals(Completion.RING_CORRUPT, status);
        assertEquals(Completion.RING_CORRUPT, put(ring, 1));
        assertEquals(RingHeader.STATE_CORRUPT, ring.state());
        assertEquals(1, two.count("ring_corrupt"));
        assertEquals(1, two.guest.getInt(two.eventTable), "the owner is told");
        assertEquals(Completion.OK, put(other, 900));
        assertEquals("corrupt", two.module.ringViews().get(0).state());
    }

    @Test
    void waitersOfACorruptRingAreToldAtOnce() {
        SimulatedRing ring = two.ring(owner, 0, CAPACITY, 0, KEY);
        for (int i = 0; i < 3; i++) {
            assertEquals(Completion.OK, put(ring, 992));
        }
        process.put(2, ring.id, KEY)
                .memory(Action.INLINE, 0, 992)
                .waiting(9_000_000)
                .submit();
        TestFabric.await("a wait", () -> one.count("waits") == 1);
        ring.setHead(12_345);
        assertEquals(Completion.RING_CORRUPT, process.await().status());
    }

    @Test
    void deviceFieldsOfTheHeaderAreNeverReadBack() {
        SimulatedRing ring = two.ring(owner, 0, CAPACITY, 0, KEY);
        assertEquals(Completion.OK, put(ring, 100));
        for (int field : new int[] {RingHeader.TAIL, RingHeader.DEVICE_HEAD, RingHeader.CAPACITY}) {
            two.guest.setLong(ring.header(field), 0x7777_7777_7777_7777L);
        }
        two.guest.setInt(ring.header(RingHeader.STATE), 99);
        assertEquals(Completion.OK, put(ring, 100));
        assertEquals(2 * 160 - 32, ring.tail() - 32);
        assertEquals(100, ring.poll().payload().length);
        assertEquals(1, ring.poll().sequence());
    }

    @Test
    void randomElementsInASharedRingNeverLeaveItsMemory() {
        Random random = new Random(3);
        int corrupt = 0;
        for (int round = 0; round < 400; round++) {
            SimulatedRing ring = two.ring(owner, 0, CAPACITY, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            for (int i = 0; i < 3; i++) {
                assertEquals(Completion.OK, put(ring, random.nextInt(900)));
            }
            for (int i = 0; i < 1 + random.nextInt(3); i++) {
                long at = ring.data(random.nextInt(4) * 4L + 32L * (random.nextInt(3) == 0 ? random.nextInt(100) : 0));
                two.guest.setInt(at, random.nextBoolean() ? random.nextInt() : 32 * random.nextInt(140));
            }
            int status;
            int got = 0;
            while ((status = get(ring)) == Completion.OK) {
                assertTrue(++got <= CAPACITY / 32, "GET finds an end");
            }
            if (status == Completion.RING_CORRUPT) {
                corrupt++;
            } else {
                assertEquals(Completion.EMPTY, status);
            }
            two.command(AdminCommand.OP_RING_DESTROY, owner)
                    .u32(AdminCommand.RING, ring.id)
                    .ok();
            two.command(AdminCommand.OP_MEMORY_UNREGISTER, owner)
                    .u32(AdminCommand.MEMORY, 0)
                    .ok();
        }
        assertTrue(corrupt > 20, "the damage was seen " + corrupt + " times");
        assertEquals(0, one.count("memory_faults") + two.count("memory_faults"));
    }

    @Test
    void memoryAroundTheRingStaysAsItWas() {
        byte[] canary = new byte[4096];
        new Random(9).nextBytes(canary);
        long before = two.guest.allocate(4096, 4096);
        SimulatedRing ring = two.ring(owner, 0, CAPACITY, 0, KEY);
        long after = two.guest.allocate(4096, 4096);
        two.guest.put(before, canary);
        two.guest.put(after, canary);
        Random random = new Random(4);
        for (int i = 0; i < 2000; i++) {
            put(ring, random.nextInt(2100));
            while (ring.poll() != null) {
                // Room again.
            }
        }
        assertArrayEquals(canary, two.guest.get(before, 4096));
        assertArrayEquals(canary, two.guest.get(after, 4096));
    }
}
