// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.IrqType;
import dev.backplane.vfiouser.client.VfioUserClient;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

/** A client that does everything right, and checks every answer. */
final class WellBehaved {
    private static final int VECTORS = 4;
    private static final int WAIT_MILLIS = 10_000;

    private WellBehaved() {}

    /** Works until told to stop; returns how many rounds it made. */
    static long run(Path socket, long seed, AtomicBoolean stop) throws IOException {
        Random random = new Random(seed);
        long rounds = 0;
        try (ClientMemory.Block block = ClientMemory.allocate(0x10000);
                Arena arena = Arena.ofConfined();
                VfioUserClient client = VfioUserClient.connect(socket)) {
            client.interrupts().enable(IrqType.MSIX, VECTORS);
            MemorySegment mapped = client.map(ScratchDevice.MEMORY, 1, arena);
            long area = client.region(ScratchDevice.MEMORY).areas().get(1).offset();
            while (!stop.get()) {
                registers(client, random);
                memory(client, mapped, area, random);
                windows(client, block, random);
                interrupts(client, random);
                if (rounds % 64 == 0) {
                    migration(client, random);
                }
                rounds++;
            }
            assertTrue(rounds > 0);
        }
        return rounds;
    }

    private static void registers(VfioUserClient client, Random random) throws IOException {
        long value = random.nextLong();
        long offset = 8L * random.nextInt(64);
        client.post(ScratchDevice.REGISTERS, offset, 8, value);
        assertEquals(value, client.read(ScratchDevice.REGISTERS, offset, 8));
        client.writeInt(ScratchDevice.REGISTERS, offset, (int) ~value);
        assertEquals((int) ~value, client.readInt(ScratchDevice.REGISTERS, offset));
        assertEquals(0x1b36, client.read(VfioUserClient.CONFIG, 0, 2));
    }

    private static void memory(VfioUserClient client, MemorySegment mapped, long area, Random random)
            throws IOException {
        int value = random.nextInt();
        long offset = 4L * random.nextInt(1024);
        mapped.set(ValueLayout.JAVA_INT, offset, value);
        assertEquals(value, client.readInt(ScratchDevice.MEMORY, area + offset));
    }

    private static void windows(VfioUserClient client, ClientMemory.Block block, Random random) throws IOException {
        long iova = 0x10000L * random.nextInt(1000);
        client.memory().map(iova, block);
        client.memory().mapUnshared(iova + 0x10000, block.memory(), false);
        client.memory().unmap(iova);
        client.memory().unmap(iova + 0x10000);
        assertEquals(0, client.memory().windows());
    }

    private static void interrupts(VfioUserClient client, Random random) throws IOException {
        int vector = random.nextInt(VECTORS);
        client.interrupts().trigger(IrqType.MSIX, vector);
        assertEquals(1, client.interrupts().await(IrqType.MSIX, vector, WAIT_MILLIS));
        for (int i = 0; i < VECTORS; i++) {
            assertEquals(0, client.interrupts().take(IrqType.MSIX, i), "vector " + i);
        }
    }

    private static void migration(VfioUserClient client, Random random) throws IOException {
        int value = random.nextInt();
        client.writeInt(ScratchDevice.REGISTERS, 0x100, value);
        byte[] state = client.migration().save();
        client.reset();
        assertEquals(0, client.readInt(ScratchDevice.REGISTERS, 0x100));
        client.migration().restore(state);
        assertEquals(value, client.readInt(ScratchDevice.REGISTERS, 0x100));
        client.interrupts().enable(IrqType.MSIX, VECTORS);
    }
}
