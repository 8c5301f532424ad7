// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.example;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.IrqType;
import dev.backplane.vfiouser.client.VfioUserClient;
import dev.backplane.vfiouser.server.ServerOptions;
import dev.backplane.vfiouser.server.VfioUserServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of the README, over a socket, as a driver would use it. */
class CopyDeviceTest {
    private static final int COMMAND = 4;
    private static final int SOURCE = 0x00;
    private static final int TARGET = 0x08;
    private static final int COUNT = 0x10;
    private static final int STATUS = 0x18;

    @TempDir
    private Path directory;

    private VfioUserServer server;
    private VfioUserClient client;
    private ClientMemory.Block memory;

    @BeforeEach
    void connect() throws IOException {
        server = VfioUserServer.listen(new CopyDevice(), directory.resolve("copy.sock"), ServerOptions.named("copy"));
        client = VfioUserClient.connect(server.path());
        memory = ClientMemory.allocate(0x20000);
        client.memory().map(0, memory);
        client.interrupts().enable(IrqType.MSIX, 1);
        client.write(VfioUserClient.CONFIG, COMMAND, 2, 6);
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        memory.close();
        server.close();
    }

    @Test
    void copiesGuestMemoryAndInterrupts() throws IOException {
        memory.memory().set(JAVA_BYTE, 0x1005, (byte) 77);
        client.write(0, SOURCE, 8, 0x1000);
        client.write(0, TARGET, 8, 0x12340);
        assertEquals(0, client.read(0, STATUS, 8));
        client.write(0, COUNT, 8, 64);
        assertEquals(1, client.interrupts().await(IrqType.MSIX, 0, 10_000));
        assertEquals(2, client.read(0, STATUS, 8));
        assertEquals(77, memory.memory().get(JAVA_BYTE, 0x12345));
    }

    @Test
    void badAddressesAndSizesFailTheCopyOnly() throws IOException {
        for (long[] bad : new long[][] {{0x40000, 0, 8}, {0, 0x1fffc, 8}, {0, 0, 1 << 17}, {-4, 0, 8}}) {
            client.write(0, SOURCE, 8, bad[0]);
            client.write(0, TARGET, 8, bad[1]);
            client.write(0, COUNT, 8, bad[2]);
            assertEquals(1, client.interrupts().await(IrqType.MSIX, 0, 10_000));
            assertEquals(3, client.read(0, STATUS, 8));
        }
    }

    @Test
    void withoutBusMasteringNothingIsCopied() throws IOException {
        client.write(VfioUserClient.CONFIG, COMMAND, 2, 2);
        client.write(0, COUNT, 8, 64);
        assertEquals(0, client.read(0, STATUS, 8));
    }

    @Test
    void resetReturnsToTheBeginning() throws IOException {
        client.write(0, SOURCE, 8, 0x1000);
        client.write(0, COUNT, 8, 64);
        client.reset();
        assertEquals(0, client.read(0, SOURCE, 8));
        assertEquals(0, client.read(0, STATUS, 8));
    }

    @Test
    void fitsOnAPage() throws IOException {
        Path source = Path.of("src/main/java/dev/backplane/vfiouser/example/CopyDevice.java");
        long code = Files.readAllLines(source).stream()
                .map(String::strip)
                .filter(l -> !l.isEmpty() && !l.startsWith("import") && !l.startsWith("*") && !l.startsWith("/"))
                .count();
        assertTrue(code < 80, "the example has " + code + " lines");
    }
}
