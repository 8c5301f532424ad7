// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.Node;
import dev.backplane.devices.sim.SimulatedGuest;
import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Field;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The registers as the table says, and what happens to accesses that it does not allow. */
@Timeout(30)
class RegistersTest {
    private TestFabric net;
    private SimulatedDriver one;
    private SimulatedGuest guest;

    @BeforeEach
    void connect() {
        net = new TestFabric();
        one = net.node(7);
        guest = one.guest;
    }

    @AfterEach
    void disconnect() {
        net.close();
    }

    @Test
    void registersTellWhatTheModuleIs() {
        MessagingConfig config = MessagingConfig.defaults();
        assertEquals(ImmRegisters.MAGIC_VALUE, guest.read32(0, ImmRegisters.MAGIC));
        assertEquals(ImmRegisters.VERSION_VALUE, guest.read32(0, ImmRegisters.VERSION));
        assertEquals(7, guest.read32(0, ImmRegisters.NODE_ID));
        assertEquals(config.contexts(), guest.read32(0, ImmRegisters.CONTEXT_COUNT));
        assertEquals(config.stride(), guest.read32(0, ImmRegisters.CONTEXT_STRIDE));
        assertEquals(config.rings(), guest.read32(0, ImmRegisters.RING_COUNT));
        assertEquals(config.memories(), guest.read32(0, ImmRegisters.MEMORY_COUNT));
        assertEquals(config.maxPages(), guest.read32(0, ImmRegisters.MAX_PAGES));
    }

    @Test
    void halvesOfLongRegistersGoTogether() {
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        guest.write32(0, ImmRegisters.EVENT_TABLE, 0x1234_5640);
        guest.write32(0, ImmRegisters.EVENT_TABLE + 4, 0x9a);
        assertEquals(0x9a_1234_5640L, guest.read64(0, ImmRegisters.EVENT_TABLE));
        assertEquals(0x9a, guest.read32(0, ImmRegisters.EVENT_TABLE + 4));
        assertEquals(0, one.count("bad_accesses"));
    }

    @Test
    void badAccessesAreCountedAndDoNothing() {
        long before = one.count("bad_accesses");
        long table = guest.read64(0, ImmRegisters.EVENT_TABLE);
        guest.write64(0, ImmRegisters.EVENT_TABLE, 0);
        guest.write64(0, ImmRegisters.DRIVER_FEATURES, 0);
        guest.write32(0, ImmRegisters.MAGIC, 1);
        guest.write64(0, ImmRegisters.ADMIN_COMMAND, 1);
        guest.write32(0, ImmRegisters.CONTROL, 0x80);
        guest.device().write(0, ImmRegisters.SCRATCH, 2, 5);
        guest.device().write(0, ImmRegisters.MAGIC + 1, 1, 5);
        guest.write64(0, ImmRegisters.STATUS, 5);
        guest.read64(0, ImmRegisters.STATUS);
        guest.read32(0, ImmRegisters.LAYOUT.size());
        guest.read32(2, 0);
        guest.write32(0, ImmRegisters.STATISTICS, 0);
        guest.read32(0, ImmRegisters.STATISTICS + ImmStatistics.LAYOUT.size());
        assertEquals(before + 13, one.count("bad_accesses"));
        assertEquals(before + 13, guest.read32(0, ImmRegisters.BAD_ACCESSES));
        assertEquals(table, guest.read64(0, ImmRegisters.EVENT_TABLE));
        assertEquals(ImmRegisters.STATE_RUNNING, one.status());
    }

    @Test
    void randomAccessesNeverBreakTheModule() {
        Random random = new Random(21);
        int[] widths = {1, 2, 4, 8};
        for (int i = 0; i < 50_000; i++) {
            int width = widths[random.nextInt(4)];
            int bar = random.nextInt(8) == 0 ? ImmRegisters.DOORBELL_BAR : 0;
            int offset = random.nextInt(random.nextBoolean() ? 0x100 : 0x1200) / width * width;
            if (random.nextBoolean()) {
                guest.device().read(bar, offset, width);
            } else {
                guest.device().write(bar, offset, width, random.nextBoolean() ? random.nextLong() : random.nextInt(8));
            }
        }
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        one.enable();
        SimulatedProcess p = one.open(0);
        assertEquals(Completion.OK, p.action(Action.CMD_NOP, 0, 0, 0).run().status());
    }

    @Test
    void statisticsAreTheCounters() {
        SimulatedProcess p = one.open(3);
        p.action(Action.CMD_NOP, 0, 0, 0).run();
        p.put(8, 0, 0).room(1).run();
        // Actions are counted at the end of a turn, when the process may know their results already.
        TestFabric.await("both actions to be counted", () -> one.count("actions") == 2);
        for (Field f : ImmStatistics.LAYOUT.fields()) {
            assertEquals(Access.RO, f.access());
            long value = guest.read64(0, ImmRegisters.STATISTICS + f.offset());
            assertEquals(one.count(f.name()), value, f.name());
            assertEquals((int) value, guest.read32(0, ImmRegisters.STATISTICS + f.offset()));
        }
        assertEquals(1, one.count("unreachable"));
    }

    @Test
    void eventTableThatIsNotMappedFailsTheModule() {
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        guest.write64(0, ImmRegisters.EVENT_TABLE, 0x40);
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        assertEquals(ImmRegisters.STATE_FAILED, one.status());
        assertEquals(ImmRegisters.ERROR_NOT_MAPPED, guest.read32(0, ImmRegisters.ERROR));
        guest.interrupts().await(0, 1);
        assertEquals(ImmRegisters.EVENT_ERROR, guest.read32(0, ImmRegisters.EVENT_STATUS));
        guest.write32(0, ImmRegisters.ADMIN_DOORBELL, 1);
        assertEquals(AdminCommand.STATUS_NOT_ENABLED, guest.read32(0, ImmRegisters.ADMIN_STATUS));
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        one.enable();
        one.open(0);
    }

    @Test
    void featuresThatTheDriverDoesNotUseAreNotThere() {
        long command = guest.read64(0, ImmRegisters.ADMIN_COMMAND);
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_RESET);
        guest.write64(0, ImmRegisters.EVENT_TABLE, one.eventTable);
        guest.write64(0, ImmRegisters.ADMIN_COMMAND, command);
        guest.write32(0, ImmRegisters.CONTROL, ImmRegisters.CONTROL_ENABLE);
        SimulatedProcess p = one.open(0);
        assertEquals(
                Completion.BAD_COMMAND,
                p.action(Action.CMD_READ, 7, 0, 0).room(8).run().status());
        assertEquals(
                Completion.BAD_COMMAND,
                p.action(Action.CMD_FETCH_ADD, 7, 0, 0).run().status());
        assertEquals(
                Completion.BAD_COMMAND, p.put(7, 0, 0).room(8).waiting(1).run().status());
        assertEquals(Completion.NO_SUCH_RING, p.put(7, 0, 0).room(8).run().status());
    }

    @Test
    void contextsWithALargeStrideHaveTheirPagesAndDoorbellsApart() {
        try (TestFabric large =
                new TestFabric(MessagingConfig.defaults().withContexts(20).withStride(MessagingConfig.LARGE_STRIDE))) {
            SimulatedDriver d = large.node(1);
            assertEquals(32L * 65_536, d.module.function().bar(4).bytes());
            SimulatedProcess p = d.open(19);
            assertEquals(Completion.OK, p.action(Action.CMD_NOP, 0, 0, 0).run().status());
            assertEquals(19, p.word(ContextPage.CONTEXT));
            long before = d.count("bad_accesses");
            d.guest.write32(2, 20 * 65_536, 1);
            assertEquals(before + 1, d.count("bad_accesses"));
            d.guest.device().write(2, 19 * 65_536 + 65_528, 8, -1L);
            d.guest.device().write(2, 19 * 65_536 + 1, 1, 0);
            assertEquals(before + 1, d.count("bad_accesses"));
        }
    }

    @Test
    void configurationsOutOfRangeAreRefusedWithValueAndRange() {
        MessagingConfig c = MessagingConfig.defaults();
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> c.withContexts(4097));
        assertEquals("messaging: contexts is 1 to 4096, not 4097", e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> c.withStride(8192));
        assertThrows(IllegalArgumentException.class, () -> c.withRings(0));
        assertThrows(IllegalArgumentException.class, () -> c.withPollers(0, true));
        e = assertThrows(IllegalArgumentException.class, () -> net.fabric.addNode(Node.of(7)));
        assertTrue(e.getMessage().contains("node7"), e.getMessage());
    }
}
