// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.Node;
import dev.backplane.devices.sim.SimulatedGuest;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The driver's commands: what each refuses, and the rights that rings get by them. */
@Timeout(30)
class AdminTest {
    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedProcess p;

    @BeforeEach
    void connect() {
        net = new TestFabric(MessagingConfig.defaults().withRings(4));
        one = net.node(1);
        p = one.open(0);
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    private int register(long[] pages, long first, long bytes) {
        return one.registerPages(p, 0, pages, first, bytes, 0, 0).status();
    }

    @Test
    void memoriesAreCheckedWhenRegistered() {
        long[] pages = one.scattered(3);
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, 0, 3 * 4096 + 1));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, 1, 3 * 4096));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, 0, 0));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, 0, -1));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, 4096, 1));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(pages, -1, 1));
        assertEquals(AdminCommand.STATUS_BAD_VALUE, register(new long[0], 0, 1));
        assertEquals(AdminCommand.STATUS_BAD_ADDRESS, register(new long[] {pages[0], 0}, 0, 8192));
        assertEquals(AdminCommand.STATUS_BAD_ADDRESS, register(new long[] {pages[0] + 8}, 0, 8));
        assertEquals(AdminCommand.STATUS_BAD_ADDRESS, register(new long[] {-4096}, 0, 8));
        assertEquals(
                AdminCommand.STATUS_BAD_MEMORY,
                one.registerPages(p, 64, pages, 0, 8, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_COMMAND,
                one.registerPages(p, 0, pages, 0, 8, 8, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_ADDRESS,
                one.registerPages(p, 0, pages, 0, 8, 0, 0)
                        .u64(AdminCommand.PAGES, 16)
                        .status());
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE,
                one.registerPages(p, 0, pages, 0, 8, 0, 0).nodes(1, 0).status());
        assertEquals(AdminCommand.STATUS_OK, register(pages, 4095, 3 * 4096 - 4095));
        assertEquals(AdminCommand.STATUS_IN_USE, register(pages, 0, 1));
    }

    @Test
    void ringsAreCheckedWhenCreated() {
        one.registerPages(p, 0, one.scattered(3), 0, 3 * 4096, 0, 0).ok();
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE, one.createRing(p, 0, 2048, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE,
                one.createRing(p, 0, 12_288, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE,
                one.createRing(p, 0, 16_384, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE, one.createRing(p, 0, -4096, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_VALUE, one.createRing(p, 0, 4096, 6, 0).status());
        for (long offset : new long[] {32, 8192, -4096, Long.MIN_VALUE}) {
            assertEquals(
                    AdminCommand.STATUS_BAD_VALUE,
                    one.createRing(p, 0, 4096, 0, 0)
                            .u64(AdminCommand.RING_OFFSET, offset)
                            .status());
        }
        assertEquals(
                AdminCommand.STATUS_BAD_MEMORY, one.createRing(p, 1, 4096, 0, 0).status());
        assertEquals(
                AdminCommand.STATUS_BAD_RING,
                one.createRing(p, 0, 4096, 0, 0).u32(AdminCommand.RING, 4).status());
        assertEquals(0, one.createRing(p, 0, 4096, 0, 0).ok());
        assertEquals(
                AdminCommand.STATUS_IN_USE,
                one.createRing(p, 0, 4096, 0, 0).u32(AdminCommand.RING, 0).status());
        assertEquals(
                AdminCommand.STATUS_IN_USE,
                one.command(AdminCommand.OP_MEMORY_UNREGISTER, p).status());
        for (int id = 1; id < 4; id++) {
            one.ring(p, id, 4096, 0, 0);
        }
        assertEquals(
                AdminCommand.STATUS_NO_SPACE, one.createRing(p, 0, 4096, 0, 0).status());
        SimulatedProcess other = one.open(1);
        assertEquals(
                AdminCommand.STATUS_BAD_RING,
                one.command(AdminCommand.OP_RING_DESTROY, other).status(),
                "somebody else's ring");
        one.close(p);
        assertEquals(
                AdminCommand.STATUS_OK,
                one.registerPages(other, 0, one.scattered(3), 0, 3 * 4096, 0, 0).status());
        assertEquals(0, one.createRing(other, 0, 4096, 0, 0).ok());
    }

    @Test
    void keysNodesDirectionsAndPartitionsAreCheckedAtTheTarget() {
        SimulatedDriver two = net.node(2);
        SimulatedDriver three = net.node(3);
        SimulatedDriver far = net.node(new Node(4, "far", MacAddress.ofNode(4), "elsewhere"));
        SimulatedProcess[] others = {two.open(0), three.open(0), far.open(0)};
        one.registerPages(p, 0, one.scattered(2), 0, 8192, 0, 0).ok();
        int listed = (int) one.createRing(p, 0, 4096, 0, KEY).nodes(3, 1, 4).ok();
        int writable = one.ring(p, 1, 4096, AdminCommand.RING_SHARED_CONSUMERS | AdminCommand.RING_WRITE_ONLY, KEY).id;
        int readable = one.ring(p, 2, 4096, AdminCommand.RING_SHARED_CONSUMERS | AdminCommand.RING_READ_ONLY, KEY).id;
        assertEquals(Completion.DENIED, put(others[0], listed, KEY));
        assertEquals(Completion.OK, put(others[1], listed, KEY));
        assertEquals(Completion.DENIED, put(others[1], listed, KEY - 1));
        assertEquals(Completion.DENIED, put(others[2], listed, KEY), "another partition");
        assertEquals(Completion.OK, put(p, listed, KEY), "the own node");
        assertEquals(Completion.OK, put(others[0], writable, KEY));
        assertEquals(Completion.DENIED, get(others[0], writable));
        assertEquals(Completion.OK, get(p, writable));
        assertEquals(Completion.DENIED, put(others[0], readable, KEY));
        assertEquals(Completion.OK, put(p, readable, KEY));
        assertEquals(Completion.OK, get(others[0], readable));
        assertEquals(5, one.count("ring_denied"));
        assertEquals(3, two.count("denied"));
    }

    private static int put(SimulatedProcess from, int ring, long key) {
        return from.put(1, ring, key).room(8).run().status();
    }

    private static int get(SimulatedProcess from, int ring) {
        return from.get(1, ring, KEY).room(8).run().status();
    }

    @Test
    void randomCommandsNeverBreakTheModule() {
        Random random = new Random(17);
        long[] pages = one.scattered(8);
        for (int i = 0; i < 3000; i++) {
            SimulatedDriver.Command c = one.command(random.nextInt(9), p);
            for (int n = random.nextInt(6); n > 0; n--) {
                int at = random.nextInt(AdminCommand.BYTES / 4) * 4;
                c.u32(at, random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(8) << random.nextInt(14));
            }
            if (random.nextBoolean()) {
                c.u64(AdminCommand.PAGES, SimulatedGuest.RAM_BASE + random.nextInt(100) * 8L)
                        .u32(AdminCommand.PAGE_SHIFT, 12)
                        .u32(AdminCommand.PAGE_COUNT, 1 + random.nextInt(3));
            }
            c.status();
            if (one.module.contexts().context(0).binding() == null) {
                p = one.open(0);
            }
        }
        one.guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        one.enable();
        p = one.open(0);
        one.registerPages(p, 0, pages, 0, 8 * 4096, 0, 0).ok();
        assertEquals(0, one.createRing(p, 0, 16_384, 0, KEY).ok());
        assertEquals(Completion.OK, put(p, 0, KEY));
    }
}
