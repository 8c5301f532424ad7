// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.conformance;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.server.run.NodeRuntime;
import dev.backplane.server.run.ServeOptions;
import dev.backplane.server.topology.Topology;
import dev.backplane.server.view.ManagementRoutes;
import dev.backplane.vfiouser.conformance.RawPeer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The one server that all tests of the suite torment, as it is in life: nothing is started afresh between clients. Node 1
 * is the victim. After each test everything that its clients brought must be gone, and the bystanders' traffic right.
 */
final class ServerUnderTest {
    /** Heap that may have come to stay over the whole suite: classes, reports, the compiler's data. */
    private static final long HEAP_SLACK = 32 << 20;

    /** After how many tests the heap is looked at: a full collection each time would take longer than the tests. */
    private static final int TESTS_PER_COLLECTION = 100;

    private static ServerUnderTest instance;

    private final DeviceServer server;
    private final Bystanders bystanders;
    private final Footprint before;
    private long heapBefore;
    private int tests;

    private ServerUnderTest() throws Exception {
        Path directory = Files.createTempDirectory("conformance");
        server = DeviceServer.start(
                Topology.ofNodes(3), new ServeOptions(directory, 1, false, false), ManagementRoutes::of);
        bystanders = new Bystanders(directory);
        for (DeviceSocket s : victim().sockets()) {
            RawPeer.negotiated(s.server().path()).close();
            awaitGone(s);
        }
        bystanders.exchange();
        before = Footprint.take();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(directory), "end of the server under test"));
    }

    /** Starts the server when it is first asked for. */
    static synchronized ServerUnderTest get() throws Exception {
        if (instance == null) {
            instance = new ServerUnderTest();
        }
        return instance;
    }

    private void end(Path directory) {
        bystanders.close();
        server.close();
        try {
            Files.deleteIfExists(directory.resolve("backplane.lock"));
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            System.err.println("left behind: " + e);
        }
    }

    /** The node whose sockets are tested. */
    NodeRuntime victim() {
        return server.node("node1");
    }

    /** Checks, after a test whose clients have all gone, that they have left nothing and hurt nobody. */
    void check() {
        try {
            bystanders.exchange();
        } catch (IOException e) {
            throw new AssertionError("a bystander was hurt", e);
        }
        for (DeviceSocket s : victim().sockets()) {
            awaitGone(s);
        }
        long end = System.nanoTime() + RawPeer.LIMIT_MILLIS * 1_000_000L;
        Footprint now = Footprint.take();
        while (!now.within(before) && System.nanoTime() < end) {
            Thread.onSpinWait();
            now = Footprint.take();
        }
        assertTrue(now.within(before), "held before the test: " + before + ", after it: " + now);
        if (tests++ % TESTS_PER_COLLECTION == 0) {
            checkHeap();
        }
    }

    private void checkHeap() {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        if (heapBefore == 0) {
            heapBefore = heap;
        }
        assertTrue(heap < heapBefore + HEAP_SLACK, "heap: " + heapBefore + " at first, " + heap + " now");
    }

    private static void awaitGone(DeviceSocket s) {
        long end = System.nanoTime() + RawPeer.LIMIT_MILLIS * 1_000_000L;
        while (s.server().connected()) {
            assertTrue(
                    System.nanoTime() < end,
                    () -> "still connected: " + s.server().path());
            Thread.onSpinWait();
        }
    }
}
