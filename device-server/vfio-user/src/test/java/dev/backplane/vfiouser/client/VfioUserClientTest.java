// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.protocol.DeviceState;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client against the library's own server. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class VfioUserClientTest {
    private static final int REGISTERS = ScratchDevice.REGISTERS;
    private static final int WAIT = 10_000;

    private ScratchSystem system;
    private VfioUserClient client;

    @BeforeEach
    void connect() throws IOException {
        system = new ScratchSystem();
        client = VfioUserClient.connect(system.socket());
    }

    @AfterEach
    void leave() throws IOException {
        client.close();
        system.close();
    }

    @Test
    void itKnowsWhatTheServerCan() throws IOException {
        assertTrue(client.minorVersion() <= 1);
        assertTrue(client.server().maxMsgFds() >= 8);
        assertEquals(1 << 20, client.server().maxDataXferSize());
        assertEquals(65_535, client.server().maxDmaMaps());
        assertEquals(-1, client.server().twinFdIndex());
        assertEquals(9, client.regionCount());
        assertTrue(client.resettable());
    }

    @Test
    void registersAreReadAndWrittenInEachWidth() throws IOException {
        client.write(REGISTERS, 0x20, 8, 0x8877665544332211L);
        assertEquals(0x8877665544332211L, client.read(REGISTERS, 0x20, 8));
        assertEquals(0x88776655L, client.read(REGISTERS, 0x24, 4));
        assertEquals(0x8877L, client.read(REGISTERS, 0x26, 2));
        assertEquals(0x88L, client.read(REGISTERS, 0x27, 1));
        client.write(REGISTERS, 0x20, 1, 0xff);
        client.write(REGISTERS, 0x22, 2, 0xeeee);
        assertEquals(0xeeee22ffL, client.read(REGISTERS, 0x20, 4));
        assertThrows(IllegalArgumentException.class, () -> client.read(REGISTERS, 0, 3));
        assertThrows(IllegalArgumentException.class, () -> client.write(REGISTERS, 0, 16, 0));
        assertEquals(0xeeee22ffL, client.read(REGISTERS, 0x20, 4), "a bad width leaves the connection as it was");
    }

    @Test
    void postedWritesAreInOrder() throws IOException {
        for (int i = 0; i < 1000; i++) {
            client.post(REGISTERS, 8, 4, i);
            assertEquals(i, client.readInt(REGISTERS, 8));
        }
        client.post(REGISTERS, -4, 4, 1);
        assertEquals(999, client.readInt(REGISTERS, 8), "a posted write that fails says nothing");
    }

    @Test
    void aRefusalIsAnExceptionAndTheConnectionGoesOn() throws IOException {
        ServerErrorException e = assertThrows(ServerErrorException.class, () -> client.readInt(REGISTERS, 1 << 20));
        assertEquals(Errno.EINVAL, e.errno());
        assertEquals(0, client.readInt(REGISTERS, 0));
    }

    @Test
    void longPartsOfARegionAreRead() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(4096);
            for (int i = 0; i < 4096; i++) {
                from.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
            }
            client.write(REGISTERS, 0, from);
            MemorySegment to = arena.allocate(4096);
            client.read(REGISTERS, 0, to);
            assertEquals(-1, from.mismatch(to));
        }
    }

    @Test
    void areasAreMapped() throws IOException {
        ClientRegion memory = client.region(ScratchDevice.MEMORY);
        assertEquals(0x10000, memory.bytes());
        assertEquals(List.of(new Bar.Area(0x1000, 0x1000), new Bar.Area(0x8000, 0x2000)), memory.areas());
        assertTrue(client.region(REGISTERS).areas().isEmpty());
        assertEquals(0, client.region(1).bytes());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment area = client.map(ScratchDevice.MEMORY, 1, arena);
            assertEquals(0x2000, area.byteSize());
            area.set(ValueLayout.JAVA_INT, 0x1004, 77);
            assertEquals(77, client.readInt(ScratchDevice.MEMORY, 0x9004));
            assertThrows(IllegalArgumentException.class, () -> client.map(ScratchDevice.MEMORY, 2, arena));
            assertThrows(IllegalArgumentException.class, () -> client.map(REGISTERS, 0, arena));
        }
        assertEquals(77, client.readInt(ScratchDevice.MEMORY, 0x9004));
    }

    @Test
    void theDeviceSeesSharedMemory() throws IOException {
        try (ClientMemory.Block block = ClientMemory.allocate(0x10000)) {
            client.memory().map(0x100000, block);
            block.memory().set(ValueLayout.JAVA_INT, 0x10, 0x1234);
            assertEquals(0x1234, device(m -> get(m, 0x100010)));
            device(m -> put(m, 0x100020, 0x5678));
            assertEquals(0x5678, block.memory().get(ValueLayout.JAVA_INT, 0x20));
            client.memory().map(0x200000, block, 0x1000, 0x1000, false);
            assertThrows(GuestMemoryFault.class, () -> device(m -> put(m, 0x200000, 1)));
            ServerErrorException e = assertThrows(
                    ServerErrorException.class, () -> client.memory().map(0x100000, block));
            assertEquals(Errno.EEXIST, e.errno());
            assertEquals(2, client.memory().windows());
            client.memory().unmap(0x100000);
            assertThrows(GuestMemoryFault.class, () -> device(m -> get(m, 0x100010)));
            client.memory().unmapAll();
            assertEquals(0, client.memory().windows());
            assertEquals(0, system.windows());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void memoryThatIsNotSharedIsReachedByMessages(boolean twin) throws Exception {
        client.close();
        client = VfioUserClient.connect(system.socket(), ClientOptions.DEFAULT.withTwinSocket(twin));
        assertEquals(twin ? 0 : -1, client.server().twinFdIndex());
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(0x2000, 8);
            client.memory().mapUnshared(0x100000, memory, true);
            client.memory().mapUnshared(0x200000, memory, false);
            memory.set(ValueLayout.JAVA_INT, 0x10, 0x1234);
            assertEquals(0x1234, served(m -> get(m, 0x100010)));
            served(m -> put(m, 0x101ffc, 0x5678));
            assertEquals(0x5678, memory.get(ValueLayout.JAVA_INT, 0x1ffc));
            assertEquals(0x5678, served(m -> get(m, 0x201ffc)));
            assertThrows(ExecutionException.class, () -> served(m -> put(m, 0x200000, 1)));
            assertEquals(0, client.readInt(REGISTERS, 0));
            assertTrue(client.memory().messages() >= 3);
            client.memory().unmapAll();
        }
    }

    @Test
    void messagesOfTheDeviceAreAnsweredInsideACall() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(0x1000, 8);
            client.memory().mapUnshared(0x100000, memory, true);
            FutureTask<Integer> access = start(m -> {
                for (int i = 0; i < 50; i++) {
                    put(m, 0x100000 + 4L * i, i);
                }
                return get(m, 0x100000 + 4L * 49);
            });
            while (!access.isDone()) {
                client.writeInt(REGISTERS, 0, 1);
                assertEquals(1, client.readInt(REGISTERS, 0));
            }
            assertEquals(49, access.get());
        }
    }

    @Test
    void interruptsArrive() throws IOException {
        assertEquals(64, client.interrupts().info(IrqType.MSIX).count());
        assertEquals(1, client.interrupts().info(IrqType.INTX).count());
        assertTrue(client.interrupts().info(IrqType.INTX).automasked());
        assertEquals(0, client.interrupts().info(IrqType.MSI).count());
        client.write(VfioUserClient.CONFIG, 4, 2, 6);
        client.interrupts().enable(IrqType.MSIX, 64);
        system.link().orElseThrow().interrupts().signal(63);
        assertEquals(1, client.interrupts().await(IrqType.MSIX, 63, WAIT));
        assertEquals(0, client.interrupts().take(IrqType.MSIX, 62));
        assertEquals(0, client.interrupts().await(IrqType.MSIX, 63, 0));
        client.interrupts().mask(IrqType.MSIX, 5);
        system.link().orElseThrow().interrupts().signal(5);
        assertEquals(0, client.interrupts().take(IrqType.MSIX, 5));
        client.interrupts().unmask(IrqType.MSIX, 5);
        assertEquals(1, client.interrupts().await(IrqType.MSIX, 5, WAIT));
        client.interrupts().trigger(IrqType.MSIX, 7);
        assertEquals(1, client.interrupts().await(IrqType.MSIX, 7, WAIT));
        client.interrupts().disable(IrqType.MSIX);
        assertThrows(IllegalArgumentException.class, () -> client.interrupts().take(IrqType.MSIX, 7));
        client.interrupts().enable(IrqType.REQ, 1);
        system.server().requestRelease();
        assertEquals(1, client.interrupts().await(IrqType.REQ, 0, WAIT));
    }

    @Test
    void aResetResets() throws IOException {
        client.writeInt(REGISTERS, 0, 5);
        client.reset();
        assertEquals(0, client.readInt(REGISTERS, 0));
    }

    @Test
    void aStateMovesToAnotherServer() throws IOException {
        assertTrue(client.migration().supported());
        assertEquals(DeviceState.RUNNING, client.migration().state());
        client.writeInt(REGISTERS, 0x40, 0x600d);
        client.write(VfioUserClient.CONFIG, 0x3c, 1, 11);
        byte[] state = client.migration().save();
        assertEquals(DeviceState.STOP_COPY, client.migration().state());
        try (ScratchSystem other = new ScratchSystem();
                VfioUserClient there = VfioUserClient.connect(other.socket())) {
            there.migration().restore(state);
            assertEquals(DeviceState.RUNNING, there.migration().state());
            assertEquals(0x600d, there.readInt(REGISTERS, 0x40));
            assertEquals(11, there.read(VfioUserClient.CONFIG, 0x3c, 1));
            state[0] ^= 1;
            assertThrows(ServerErrorException.class, () -> there.migration().restore(state));
            there.reset();
            assertEquals(DeviceState.RUNNING, there.migration().state());
        }
    }

    @Test
    void dirtyPagesAreReported() throws IOException {
        try (ClientMemory.Block block = ClientMemory.allocate(0x100000)) {
            client.memory().map(0x400000, block);
            client.migration().startLogging(4096);
            device(m -> put(m, 0x400000 + 0x7000, 1));
            device(m -> put(m, 0x400000 + 0xff000, 1));
            assertEquals(
                    "{7, 255}",
                    client.migration().dirtyPages(0x400000, 0x100000, 4096).toString());
            assertEquals(
                    0, client.migration().dirtyPages(0x400000, 0x100000, 4096).cardinality());
            client.migration().stopLogging();
        }
    }

    @Test
    void aServerThatGoesIsNoticed() throws IOException {
        system.close();
        assertThrows(IOException.class, () -> client.readInt(REGISTERS, 0));
        system = new ScratchSystem();
    }

    @Test
    void manyClientsFitInOneProcess() throws IOException {
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        int clients = 64;
        List<ScratchSystem> systems = new ArrayList<>();
        List<VfioUserClient> all = new ArrayList<>();
        try {
            for (int i = 0; i < clients; i++) {
                systems.add(new ScratchSystem());
                all.add(VfioUserClient.connect(systems.get(i).socket(), ClientOptions.DEFAULT));
            }
            for (int i = 0; i < clients; i++) {
                all.get(i).writeInt(REGISTERS, 0, i);
            }
            for (int i = 0; i < clients; i++) {
                assertEquals(i, all.get(i).readInt(REGISTERS, 0));
            }
            int now = ManagementFactory.getThreadMXBean().getThreadCount();
            assertTrue(now <= threads + 2 * clients + 2, "the clients have no threads: " + now);
        } finally {
            for (VfioUserClient c : all) {
                c.close();
            }
            for (ScratchSystem s : systems) {
                s.close();
            }
        }
    }

    @Test
    void closingLeavesNothingOpen() throws IOException {
        client.close();
        int before = Fds.count();
        for (int i = 0; i < 20; i++) {
            try (ClientMemory.Block block = ClientMemory.allocate(4096);
                    Arena arena = Arena.ofConfined();
                    VfioUserClient c =
                            VfioUserClient.connect(system.socket(), ClientOptions.DEFAULT.withTwinSocket(i % 2 == 0))) {
                c.memory().map(0, block);
                c.interrupts().enable(IrqType.MSIX, 10);
                assertFalse(c.map(ScratchDevice.MEMORY, 0, arena).byteSize() == 0);
                c.region(ScratchDevice.MEMORY);
            }
        }
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors");
    }

    /** What the device does with its guest's memory. */
    private interface Access {
        int with(GuestMemory memory);
    }

    private int device(Access access) {
        GuestMemory memory = system.link().orElseThrow().memory();
        int use = memory.enter();
        try {
            return access.with(memory);
        } finally {
            memory.exit(use);
        }
    }

    private FutureTask<Integer> start(Access access) {
        FutureTask<Integer> task = new FutureTask<>(() -> device(access));
        Thread.ofPlatform().name("device").start(task);
        return task;
    }

    private int served(Access access) throws Exception {
        FutureTask<Integer> task = start(access);
        while (!task.isDone()) {
            client.serve(1);
        }
        return task.get();
    }

    private static int get(GuestMemory memory, long iova) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = arena.allocate(4, 4);
            memory.read(iova, to, 0, 4);
            return to.get(ValueLayout.JAVA_INT, 0);
        }
    }

    private static int put(GuestMemory memory, long iova, int value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(4, 4);
            from.set(ValueLayout.JAVA_INT, 0, value);
            memory.write(iova, from, 0, 4);
            return value;
        }
    }
}
