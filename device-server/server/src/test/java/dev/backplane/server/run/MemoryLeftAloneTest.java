// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.MacAddress;
import dev.backplane.server.guest.RemoteDevice;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Others flood a guest, over real sockets, while it is reset or killed: once the reset has been answered, or the server has
 * let the client go, nothing is written to the guest's memory.
 */
@Timeout(120)
class MemoryLeftAloneTest {
    private static final int ROUNDS = 20;
    private static final byte FILL = 0x5a;
    private static final int MORE = 50;
    private static final short EXPERIMENTAL_TYPE = (short) 0x88b5; // IEEE 802, local experimental EtherType 1

    @TempDir
    private Path temp;

    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicLong sent = new AtomicLong();
    private final List<FutureTask<Void>> senders = new ArrayList<>();
    private DeviceServer server;

    @BeforeEach
    void start() throws Exception {
        server = DeviceServer.start(
                Topology.ofNodes(3), new ServeOptions(temp.resolve("run"), 1, false, false), ManagementRoutes::of);
        for (int node = 2; node <= 3; node++) {
            int from = node;
            FutureTask<Void> sender = new FutureTask<>(() -> flood(from), null);
            senders.add(sender);
            Thread.ofPlatform().name("node " + node).start(sender);
        }
    }

    @AfterEach
    void end() throws Exception {
        stop.set(true);
        for (FutureTask<Void> sender : senders) {
            sender.get();
        }
        server.close();
    }

    private RemoteNic nic(int node) {
        try {
            return new RemoteNic(temp.resolve("run/node" + node + ".agg.sock"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends to node 1 until told to stop. */
    private void flood(int from) {
        try (RemoteNic nic = nic(from)) {
            byte[] frame = frame(from);
            while (!stop.get()) {
                nic.send(frame);
                sent.incrementAndGet();
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] frame(int from) {
        ByteBuffer frame = ByteBuffer.allocate(1400);
        for (MacAddress mac : List.of(MacAddress.ofNode(1), MacAddress.ofNode(from))) {
            for (int i = 0; i < 6; i++) {
                frame.put((byte) mac.octet(i));
            }
        }
        return frame.putShort(EXPERIMENTAL_TYPE).array();
    }

    private void awaitMoreSent() {
        long goal = sent.get() + MORE;
        RemoteDevice.awaitTrue("more frames to be sent", () -> sent.get() >= goal);
    }

    @Test
    void afterAResetHasBeenAnswered() throws Exception {
        try (RemoteNic victim = nic(1)) {
            for (int round = 0; round < ROUNDS; round++) {
                receiveSome(victim);
                victim.client().reset();
                assertLeftAlone(victim.memory(), "round " + round);
                victim.setUp();
            }
        }
    }

    @Test
    void afterAClientThatWasKilledIsGone() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            try (RemoteNic victim = nic(1)) {
                receiveSome(victim);
                victim.leave();
                RemoteDevice.awaitTrue("the client to be let go", () -> !connected());
                assertLeftAlone(victim.memory(), "round " + round);
            }
        }
    }

    private boolean connected() {
        return server.node("node1").agg().server().connected();
    }

    private void receiveSome(RemoteNic victim) throws IOException {
        for (int i = 0; i < 20; i++) {
            assertTrue(victim.receive().length > 0);
        }
    }

    /** Fills the memory, and looks whether it is unchanged when more frames have been sent. */
    private void assertLeftAlone(MemorySegment memory, String round) {
        memory.fill(FILL);
        MemorySegment filled = MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE));
        awaitMoreSent();
        assertEquals(-1, memory.mismatch(filled), round);
    }
}
