// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.imm.Completion;
import dev.backplane.server.guest.RemoteModule;
import dev.backplane.server.guest.RemoteNic;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Two guests, nodes 2 and 3, that do everything right and stay connected whatever happens to node 1. One thread. */
final class Bystanders implements AutoCloseable {
    private static final long KEY = 0x0123_4567_89ab_cdefL;
    private static final int EXPERIMENTAL_TYPE = 0x88b5; // IEEE 802, local experimental EtherType 1

    private final RemoteNic nic2;
    private final RemoteNic nic3;
    private final RemoteModule module2;
    private final RemoteModule module3;
    private final int ring;
    private long rounds;

    Bystanders(Path runDirectory) throws IOException {
        nic2 = new RemoteNic(runDirectory.resolve("node2.agg.sock"));
        nic3 = new RemoteNic(runDirectory.resolve("node3.agg.sock"));
        module2 = new RemoteModule(runDirectory.resolve("node2.imm.sock"));
        module3 = new RemoteModule(runDirectory.resolve("node3.imm.sock"));
        ring = module3.createRing(KEY);
        nic2.useIoEvents(); // one of each kind without messages, the other with
        module2.useIoEvents();
    }

    /** A frame each way and an element through a ring: all arrive, once, in order and unchanged. */
    void exchange() throws IOException {
        rounds++;
        cross(nic2, 2, nic3, 3);
        cross(nic3, 3, nic2, 2);
        byte[] element = ByteBuffer.allocate(8).putLong(rounds).array();
        assertEquals(Completion.OK, module2.put(3, ring, KEY, element), "status of a bystander's PUT");
        RemoteModule.Result got = module3.get(3, ring, KEY);
        assertEquals(Completion.OK, got.status(), "status of a bystander's GET");
        assertArrayEquals(element, got.payload(), "element of the bystanders' ring");
    }

    private void cross(RemoteNic from, int source, RemoteNic to, int destination) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(60);
        for (MacAddress mac : new MacAddress[] {MacAddress.ofNode(destination), MacAddress.ofNode(source)}) {
            for (int i = 0; i < 6; i++) {
                frame.put((byte) mac.octet(i));
            }
        }
        frame.putShort((short) EXPERIMENTAL_TYPE).putLong(rounds);
        assertEquals(0, from.send(frame.array()), "status of a bystander's frame");
        assertArrayEquals(frame.array(), to.receive(), "frame from node " + source);
    }

    @Override
    public void close() {
        module3.close();
        module2.close();
        nic3.close();
        nic2.close();
    }
}
