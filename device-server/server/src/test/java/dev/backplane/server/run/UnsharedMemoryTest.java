// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.agg.AggRegisters;
import dev.backplane.devices.imm.Completion;
import dev.backplane.devices.imm.ImmRegisters;
import dev.backplane.server.guest.RemoteModule;
import dev.backplane.server.guest.RemoteNic;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import dev.backplane.vfiouser.counter.Counter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A guest that does not share its memory: it works, slowly, and whatever its client does with messages hurts nobody else. */
@Timeout(60)
class UnsharedMemoryTest {
    private static final int FRAMES = 20;
    private static final long KEY = 7;

    @TempDir
    private Path temp;

    private DeviceServer server;

    @BeforeEach
    void start() throws Exception {
        server = DeviceServer.start(
                Topology.ofNodes(3), new ServeOptions(temp.resolve("run"), 1, false, false), ManagementRoutes::of);
    }

    @AfterEach
    void end() {
        server.close();
    }

    private RemoteNic nic(int node, boolean shared) throws Exception {
        return new RemoteNic(temp.resolve("run/node" + node + ".agg.sock"), shared);
    }

    /** To a node, from a node. */
    private static byte[] frame(int to, int from, int number) {
        byte[] f = new byte[1000];
        Arrays.fill(f, (byte) number);
        byte[] addresses = {2, (byte) 0xba, 0x5c, 0, 0, (byte) to, 2, (byte) 0xba, 0x5c, 0, 0, (byte) from};
        System.arraycopy(addresses, 0, f, 0, addresses.length);
        f[12] = (byte) 0x88;
        f[13] = (byte) 0xb5;
        return f;
    }

    private RemoteModule module(int node, boolean shared) throws Exception {
        return new RemoteModule(temp.resolve("run/node" + node + ".imm.sock"), shared);
    }

    /** Into and out of a ring in the memory of a guest that has to be asked for each word. */
    @Test
    void elementsGoBothWays() throws Exception {
        AtomicInteger ring = new AtomicInteger(-1);
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Void> owner = new FutureTask<>(() -> {
            try (RemoteModule slow = module(1, false)) {
                ring.set(slow.createRing(KEY));
                while (!over.get()) {
                    slow.serve();
                }
                assertEquals(Completion.OK, slow.put(1, ring.get(), KEY, new byte[] {1, 2, 3}));
                assertArrayEquals(
                        new byte[] {1, 2, 3}, slow.get(1, ring.get(), KEY).payload());
            }
            return null;
        });
        Thread.ofPlatform().name("slow guest").start(owner);
        RemoteNic.awaitTrue("the ring", () -> ring.get() >= 0 || owner.isDone());
        try (RemoteModule fast = module(2, true)) {
            for (int i = 0; i < FRAMES; i++) {
                byte[] data = frame(1, 2, i);
                assertEquals(Completion.OK, fast.put(1, ring.get(), KEY, Arrays.copyOf(data, 200)));
                assertArrayEquals(
                        Arrays.copyOf(data, 200), fast.get(1, ring.get(), KEY).payload());
            }
        } finally {
            over.set(true);
        }
        owner.get();
    }

    @Test
    void aModuleWhoseClientDoesNotAnswerHoldsUpNobodyElse() throws Exception {
        try (RemoteModule silent = module(1, false);
                RemoteModule waiting = module(2, true);
                RemoteModule third = module(3, true)) {
            int stuck = silent.createRing(KEY);
            int own = third.createRing(KEY);
            waiting.startPut(1, stuck, KEY);
            for (int i = 0; i < 50; i++) {
                assertEquals(Completion.OK, third.put(3, own, KEY, new byte[] {(byte) i}));
                assertArrayEquals(new byte[] {(byte) i}, third.get(3, own, KEY).payload());
            }
            assertEquals(ImmRegisters.MAGIC_VALUE, silent.client().read(0, ImmRegisters.MAGIC, 4));
            silent.client().reset();
            RemoteNic.awaitTrue("the end of the PUT", waiting::finished);
        }
    }

    private long counter(int node, String name) {
        return server.node("node" + node).agg().counters().stream()
                .flatMap(g -> g.all().stream())
                .filter(c -> c.name().equals(name))
                .mapToLong(Counter::get)
                .sum();
    }

    /** The guest's client answers all the time, as that of QEMU does, and the guest sends every frame back. */
    @Test
    void framesGoBothWays() throws Exception {
        try (RemoteNic fast = nic(2, true)) {
            FutureTask<Void> echo = new FutureTask<>(() -> {
                try (RemoteNic slow = nic(1, false)) {
                    for (int i = 0; i < FRAMES; i++) {
                        assertArrayEquals(frame(1, 2, i), slow.receive());
                        assertEquals(0, slow.send(frame(2, 1, i)));
                    }
                    assertEquals(0, counter(1, "dma_failures"));
                }
                return null;
            });
            Thread.ofPlatform().name("slow guest").start(echo);
            RemoteNic.awaitTrue(
                    "the slow guest's link", () -> server.node("node1").vnic().linkUp());
            for (int i = 0; i < FRAMES; i++) {
                assertEquals(0, fast.send(frame(1, 2, i)));
                assertArrayEquals(frame(2, 1, i), fast.receive());
            }
            echo.get();
            assertTrue(counter(1, "dma_messages") > FRAMES);
        }
    }

    @Test
    void aClientThatDoesNotAnswerHoldsUpNeitherItselfNorOthers() throws Exception {
        try (RemoteNic silent = nic(1, false);
                RemoteNic two = nic(2, true);
                RemoteNic three = nic(3, true)) {
            silent.post(frame(2, 1, 0)); // the doorbell is answered, the descriptors are asked for in vain
            for (int i = 0; i < 50; i++) {
                assertEquals(0, two.send(frame(1, 2, i))); // to the silent one: queued, then dropped
                assertEquals(0, two.send(frame(3, 2, i)));
                assertArrayEquals(frame(3, 2, i), three.receive());
                assertEquals(0, three.send(frame(2, 3, i)));
                assertArrayEquals(frame(2, 3, i), two.receive());
            }
        }
    }

    @Test
    void aResetEndsAccessesUnderWay() throws Exception {
        try (RemoteNic silent = nic(1, false)) {
            long ended = 0;
            for (int i = 0; i < 5; i++) {
                // The first request may have come when the queues were set up; there is one at a time.
                long begin = ended;
                silent.post(frame(2, 1, 0));
                RemoteNic.awaitTrue("a request", () -> counter(1, "dma_messages") > begin);
                long failures = counter(1, "dma_failures");
                if (i % 2 == 0) {
                    silent.client().reset();
                } else {
                    silent.client().write(0, AggRegisters.CONTROL, 4, AggRegisters.CONTROL_RESET);
                }
                assertTrue(counter(1, "dma_failures") >= failures, "counted");
                assertEquals(0, silent.client().read(0, AggRegisters.STATUS, 4) & 1, "idle again");
                ended = counter(1, "dma_messages");
                silent.setUp();
            }
        }
    }
}
