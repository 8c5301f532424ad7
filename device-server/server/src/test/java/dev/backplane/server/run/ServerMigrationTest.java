// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.imm.Completion;
import dev.backplane.server.guest.RemoteModule;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import dev.backplane.vfiouser.client.ServerErrorException;
import dev.backplane.vfiouser.client.VfioUserClient;
import dev.backplane.vfiouser.protocol.DeviceState;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Both devices of two nodes go from one server to another, by the migration commands, and their traffic goes on. */
@Timeout(60)
class ServerMigrationTest {
    private static final long KEY = 0x5eed;

    @TempDir
    private Path temp;

    private DeviceServer old;
    private DeviceServer fresh;

    @BeforeEach
    void start() throws Exception {
        old = start("old");
        fresh = start("new");
    }

    private DeviceServer start(String directory) throws Exception {
        return DeviceServer.start(
                Topology.ofNodes(2), new ServeOptions(temp.resolve(directory), 1, false, false), ManagementRoutes::of);
    }

    @AfterEach
    void end() {
        old.close();
        fresh.close();
    }

    private Path socket(String directory, int node, String device) {
        return temp.resolve(directory).resolve("node" + node + "." + device + ".sock");
    }

    private static byte[] frame(int to, int from, String text) {
        ByteBuffer frame = ByteBuffer.allocate(14 + text.length());
        for (MacAddress mac : new MacAddress[] {MacAddress.ofNode(to), MacAddress.ofNode(from)}) {
            for (int i = 0; i < 6; i++) {
                frame.put((byte) mac.octet(i));
            }
        }
        frame.putShort((short) 0x88b5).put(text.getBytes(StandardCharsets.US_ASCII));
        return frame.array();
    }

    private static void exchange(RemoteNic one, RemoteNic two, String what, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            assertEquals(0, one.send(frame(2, 1, what + i)));
            assertArrayEquals(frame(2, 1, what + i), two.receive(), "the next frame is the next that was sent");
            assertEquals(0, two.send(frame(1, 2, what + i)));
            assertArrayEquals(frame(1, 2, what + i), one.receive());
        }
    }

    @Test
    void framesGoOnInAnotherServer() throws Exception {
        try (RemoteNic one = new RemoteNic(socket("old", 1, "agg"));
                RemoteNic two = new RemoteNic(socket("old", 2, "agg"))) {
            exchange(one, two, "before ", 25);
            two.moveTo(socket("new", 2, "agg"));
            assertEquals(0, one.send(frame(2, 1, "for one who has left")), "the sender's descriptor completes");
            one.moveTo(socket("new", 1, "agg"));
            exchange(one, two, "after ", 25);
            one.moveTo(socket("old", 1, "agg"));
            two.moveTo(socket("old", 2, "agg"));
            exchange(one, two, "back ", 25);
            var counters = fresh.fabric().counters();
            assertEquals(50, counters.get("copies"), counters::toString);
            assertEquals(
                    0,
                    old.workers().counters().get("failures")
                            + fresh.workers().counters().get("failures"));
        }
    }

    @Test
    void elementsGoOnInAnotherServer() throws Exception {
        try (RemoteModule one = new RemoteModule(socket("old", 1, "imm"));
                RemoteModule two = new RemoteModule(socket("old", 2, "imm"))) {
            int ring = two.createRing(KEY);
            for (int i = 0; i < 10; i++) {
                assertEquals(Completion.OK, one.put(2, ring, KEY, element(i)));
            }
            assertArrayEquals(element(0), one.get(2, ring, KEY).payload());
            two.moveTo(socket("new", 2, "imm"));
            one.moveTo(socket("new", 1, "imm"));
            assertEquals(Completion.OK, one.put(2, ring, KEY, element(10)));
            for (int i = 1; i <= 10; i++) {
                RemoteModule.Result got = (i % 2 == 0 ? one : two).get(2, ring, KEY);
                assertEquals(Completion.OK, got.status());
                assertArrayEquals(element(i), got.payload(), "each element once, in order");
            }
            assertEquals(Completion.EMPTY, one.get(2, ring, KEY).status());
        }
    }

    private static byte[] element(int i) {
        return ("element " + i).getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void aStateOfAnotherNodeOrCutShortIsRefusedAndTheDeviceIsClean() throws Exception {
        for (String device : new String[] {"agg", "imm"}) {
            byte[] state;
            try (VfioUserClient one = VfioUserClient.connect(socket("old", 1, device))) {
                state = one.migration().save();
            }
            try (VfioUserClient two = VfioUserClient.connect(socket("new", 2, device))) {
                assertThrows(ServerErrorException.class, () -> two.migration().restore(state), device);
                assertEquals(DeviceState.ERROR, two.migration().state());
            }
            try (VfioUserClient one = VfioUserClient.connect(socket("new", 1, device))) {
                byte[] half = Arrays.copyOf(state, state.length / 2);
                assertThrows(ServerErrorException.class, () -> one.migration().restore(half), device);
            }
            try (VfioUserClient one = VfioUserClient.connect(socket("new", 1, device))) {
                one.migration().restore(state);
                assertEquals(DeviceState.RUNNING, one.migration().state());
            }
        }
    }
}
