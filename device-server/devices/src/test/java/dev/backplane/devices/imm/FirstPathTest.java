// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.backplane.devices.Node;
import dev.backplane.devices.loop.Workers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The promises of the messaging module in the order of the claim, one process on each of two nodes. */
@Timeout(30)
class FirstPathTest {
    private static final long KEY = 0x1122_3344_5566_7788L;

    private Workers workers;
    private MessagingFabric fabric;
    private SimulatedDriver one;
    private SimulatedDriver two;

    @BeforeEach
    void connect() {
        workers = new Workers(Workers.Mode.INLINE, 1, 4096);
        fabric = new MessagingFabric(MessagingConfig.defaults(), workers);
        one = new SimulatedDriver(fabric.addNode(Node.of(1)));
        two = new SimulatedDriver(fabric.addNode(Node.of(2)));
    }

    @AfterEach
    void disconnect() {
        one.close();
        two.close();
        fabric.close();
        workers.close();
    }

    @Test
    void putFromOneNodeAppearsInTheRingOfAnother() {
        SimulatedProcess owner = two.open(3);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess process = one.open(5);
        byte[] payload = "hello, ring".getBytes(StandardCharsets.UTF_8);

        SimulatedProcess.Result result =
                process.put(2, ring.id, KEY).tag(77).inline(payload).run();

        assertEquals(Completion.OK, result.status());
        assertEquals(payload.length, result.length());
        assertEquals(0, result.value(), "sequence number");
        SimulatedRing.Element element = ring.poll();
        assertNotNull(element);
        assertArrayEquals(payload, element.payload());
        assertEquals(77, element.tag());
        assertEquals(1, element.node());
        assertEquals(5, element.context());
        assertNull(ring.poll());
    }

    @Test
    void getRemovesTheHeadOfASharedRing() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
        SimulatedProcess process = one.open(0);
        for (int i = 0; i < 3; i++) {
            byte[] payload = {(byte) i, 1, 2, 3};
            assertEquals(
                    Completion.OK,
                    process.put(2, ring.id, KEY)
                            .tag(100 + i)
                            .inline(payload)
                            .run()
                            .status());
        }
        for (int i = 0; i < 3; i++) {
            long room = process.inlineOffset();
            SimulatedProcess.Result r = process.get(2, ring.id, KEY).room(64).run();
            assertEquals(Completion.OK, r.status());
            assertEquals(4, r.length());
            assertEquals(i, r.value());
            assertEquals(100 + i, r.tag());
            assertEquals(1, r.node());
            assertArrayEquals(new byte[] {(byte) i, 1, 2, 3}, process.inline(room, 4));
        }
        assertEquals(
                Completion.EMPTY, process.get(2, ring.id, KEY).room(64).run().status());
    }

    @Test
    void everyMistakeHasItsStatus() {
        SimulatedProcess owner = two.open(0);
        SimulatedRing ring = two.ring(owner, 0, 4096, 0, KEY);
        SimulatedProcess p = one.open(0);
        assertEquals(Completion.DENIED, p.put(2, ring.id, KEY + 1).room(1).run().status());
        assertEquals(Completion.DENIED, p.get(2, ring.id, KEY).room(1).run().status());
        assertEquals(
                Completion.NO_SUCH_RING,
                p.put(2, ring.id + 1, KEY).room(1).run().status());
        assertEquals(
                Completion.UNREACHABLE, p.put(3, ring.id, KEY).room(1).run().status());
        assertEquals(Completion.BAD_COMMAND, p.action(9, 2, ring.id, KEY).run().status());
        assertEquals(
                Completion.BAD_ADDRESS,
                p.put(2, ring.id, KEY)
                        .memory(Action.INLINE, 1, ContextPage.INLINE_BYTES)
                        .run()
                        .status());
        assertEquals(
                Completion.NO_SUCH_MEMORY,
                p.put(2, ring.id, KEY).memory(0, 0, 1).run().status());
        SimulatedProcess.Result tooLong =
                p.put(2, ring.id, KEY).memory(Action.INLINE, 0, 2048 - 31).run();
        assertEquals(Completion.TOO_LONG, tooLong.status());
        assertEquals(2048 - 32, tooLong.length());
        assertEquals(Completion.OK, p.action(Action.CMD_NOP, 0, 0, 0).run().status());
    }
}
