// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.backplane.devices.loop.Workers;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many producers on several nodes and threads to one ring: every element arrives exactly once, whole, in the order of
 * its context, also across wrap, FULL and the death of producers. {@link
 * ProducersStressTest} does all of it at once, and for as long as one likes.
 */
@Timeout(120)
class ManyProducersTest {
    private static final int NODES = 3;
    private static final int PROCESSES = 4;
    private static final int ELEMENTS = 3000;

    private static final MemorySegment ZEROES = MemorySegment.ofArray(new byte[MessagingConfig.SMALL_STRIDE]);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Payload: number, random filler, CRC over both. */
    private static byte[] payload(Random random, int number, int maxBytes) {
        byte[] bytes = new byte[8 + random.nextInt(maxBytes - 8)];
        random.nextBytes(bytes);
        ByteBuffer.wrap(bytes).putInt(0, number);
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, 4);
        crc.update(bytes, 8, bytes.length - 8);
        ByteBuffer.wrap(bytes).putInt(4, (int) crc.getValue());
        return bytes;
    }

    private static int number(byte[] payload, String what) {
        CRC32 crc = new CRC32();
        crc.update(payload, 0, 4);
        crc.update(payload, 8, payload.length - 8);
        ByteBuffer b = ByteBuffer.wrap(payload);
        assertEquals((int) crc.getValue(), b.getInt(4), "CRC of " + what);
        return b.getInt(0);
    }

    /** Puts {@code count} elements, up to eight at a time; some wait when the ring is full, others try again. */
    private static void produce(SimulatedProcess p, int ring, int count, long seed) {
        Random random = new Random(seed);
        byte[][] inFlight = new byte[ContextPage.SLOTS][];
        int next = 0;
        int confirmed = 0;
        boolean waits = random.nextBoolean();
        while (confirmed < count) {
            // Order is promised for what is in flight together only while nothing fails: so retry one by one.
            int batch = waits ? Math.min(ContextPage.SLOTS, count - next) : 1;
            for (int i = 0; i < batch; i++) {
                inFlight[i] = payload(random, next, ContextPage.INLINE_BYTES / ContextPage.SLOTS);
                SimulatedProcess.ActionFields a = p.put(1, ring, KEY).tag(next).inline(inFlight[i]);
                if (waits) {
                    a.waiting(9_000_000);
                }
                a.submit();
                next++;
            }
            for (int i = 0; i < batch; i++) {
                SimulatedProcess.Result r = p.await();
                while (r.status() == Completion.FULL) {
                    Thread.onSpinWait();
                    r = p.put(1, ring, KEY).tag(confirmed).inline(inFlight[i]).run();
                }
                assertEquals(Completion.OK, r.status(), "status of put " + confirmed + " by " + p.driver.module);
                confirmed++;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Workers.Mode.class)
    void everyElementArrivesOnceAndInOrder(Workers.Mode mode) throws Exception {
        run(mode, 42);
    }

    private void run(Workers.Mode mode, long seed) throws Exception {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(2, false), mode, 2)) {
            List<SimulatedProcess> processes = new ArrayList<>();
            SimulatedDriver target = net.node(1);
            SimulatedProcess owner = target.open(0);
            for (int n = 0; n < NODES; n++) {
                SimulatedDriver d = n == 0 ? target : net.node(n + 1);
                for (int i = 0; i < PROCESSES; i++) {
                    processes.add(d.open(1 + i));
                }
            }
            SimulatedRing ring = target.ring(owner, 0, 16_384, 0, KEY);
            List<Future<?>> producers = new ArrayList<>();
            for (SimulatedProcess p : processes) {
                producers.add(threads.submit(() -> produce(p, ring.id, ELEMENTS, seed + p.context)));
            }
            int[] expected = new int[(NODES + 1) * 16];
            long total = (long) processes.size() * ELEMENTS;
            for (long sequence = 0; sequence < total; sequence++) {
                SimulatedRing.Element e = awaitElement(ring, owner, producers);
                String what = "element " + sequence + " of node " + e.node() + " context " + e.context();
                assertEquals(sequence, e.sequence(), what);
                int from = e.node() * 16 + e.context();
                assertEquals(expected[from]++, number(e.payload(), what), what);
                assertEquals(e.tag(), expected[from] - 1, what);
            }
            for (Future<?> f : producers) {
                f.get();
            }
            assertEquals(null, ring.poll(), "nothing after the last");
        }
    }

    private static SimulatedRing.Element awaitElement(
            SimulatedRing ring, SimulatedProcess owner, List<Future<?>> producers) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (true) {
            SimulatedRing.Element e = ring.poll();
            if (e != null) {
                if (ring.wantsSpace()) {
                    owner.ring();
                }
                return e;
            }
            for (Future<?> f : producers) {
                if (f.isDone()) {
                    f.get();
                }
            }
            if (System.nanoTime() - end > 0) {
                fail("no element for 20 s: ring state " + ring.state() + ", tail " + ring.tail() + ", head " + ring.head
                        + ", " + ring.driver.module.ringViews() + ", " + ring.driver.module.contextViews());
            }
            Thread.onSpinWait();
        }
    }

    /** Producers are closed at any moment and reopened: whole elements only, no gap in what was confirmed, no repeats. */
    @Test
    void deathOfProducersLeavesOnlyWholeElements() throws Exception {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(2, false))) {
            SimulatedDriver target = net.node(1);
            SimulatedDriver other = net.node(2);
            SimulatedProcess owner = target.open(0);
            SimulatedRing ring = target.ring(owner, 0, 8192, 0, KEY);
            AtomicInteger lives = new AtomicInteger();
            AtomicBoolean stop = new AtomicBoolean();
            Callable<Integer> dying = () -> {
                Random random = new Random(7);
                int submitted = 0;
                for (int life = 0; life < 300; life++) {
                    SimulatedProcess p;
                    synchronized (other) {
                        p = other.open(1);
                    }
                    assertEquals(0, p.complete(), "a new process sees nothing old");
                    lives.set(life);
                    int n = 1 + random.nextInt(ContextPage.SLOTS);
                    for (int i = 0; i < n; i++) {
                        p.put(1, ring.id, KEY)
                                .tag((long) life << 32 | i)
                                .waiting(9_000_000)
                                .inline(payload(random, i, 384));
                        p.store(i + 1);
                        submitted++;
                    }
                    for (int spin = random.nextInt(2000); spin > 0; spin--) {
                        Thread.onSpinWait();
                    }
                    synchronized (other) {
                        other.close(p);
                    }
                    assertEquals(-1, p.page.mismatch(ZEROES), "the page is zero once the context is closed");
                }
                return submitted;
            };
            Future<Integer> producer = threads.submit(() -> {
                try {
                    return dying.call();
                } finally {
                    stop.set(true);
                }
            });
            long sequence = 0;
            long latest = -1;
            while (true) {
                boolean last = stop.get();
                SimulatedRing.Element e = ring.poll();
                if (e == null) {
                    if (last) {
                        break;
                    }
                    Thread.onSpinWait();
                    continue;
                }
                String what = "element " + sequence + " with tag " + Long.toHexString(e.tag());
                assertEquals(sequence++, e.sequence(), what);
                assertEquals((int) e.tag(), number(e.payload(), what), what);
                assertTrue(e.tag() > latest, what + " after " + Long.toHexString(latest));
                assertTrue((int) e.tag() == 0 || e.tag() == latest + 1, what + " follows " + Long.toHexString(latest));
                latest = e.tag();
                assertTrue(e.tag() >>> 32 <= lives.get(), what + " of a life to come");
            }
            int submitted = producer.get();
            assertTrue(sequence <= submitted, sequence + " arrived of " + submitted);
            assertNotNull(other.module.contextViews());
            assertEquals(300, other.count("contexts_closed"));
        }
    }

    @Test
    void twoConsumersGetEachElementOnce() throws Exception {
        int elements = 5_000;
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(2, false))) {
            SimulatedDriver target = net.node(1);
            SimulatedProcess producer = target.open(1);
            SimulatedRing ring = target.ring(target.open(0), 0, 16_384, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            List<Future<List<Integer>>> consumers = new ArrayList<>();
            for (int n = 2; n <= 3; n++) {
                SimulatedProcess p = net.node(n).open(0);
                consumers.add(threads.submit(() -> consume(p, ring.id)));
            }
            threads.submit(() -> produce(producer, ring.id, elements, 1)).get();
            // Two more, empty, tell the consumers to go home.
            for (int i = 0; i < 2; i++) {
                assertEquals(
                        Completion.OK,
                        producer.put(1, ring.id, KEY)
                                .tag(-1)
                                .waiting(9_000_000)
                                .inline(new byte[0])
                                .run()
                                .status());
            }
            boolean[] seen = new boolean[elements];
            for (Future<List<Integer>> f : consumers) {
                int previous = -1;
                for (int number : f.get()) {
                    assertTrue(number > previous, "each consumer sees rising numbers: " + number);
                    assertTrue(!seen[number], "element " + number + " twice");
                    seen[number] = true;
                    previous = number;
                }
            }
            for (int i = 0; i < elements; i++) {
                assertTrue(seen[i], "element " + i + " is lost");
            }
        }
    }

    private static List<Integer> consume(SimulatedProcess p, int ring) {
        List<Integer> numbers = new ArrayList<>();
        while (true) {
            long room = p.inlineOffset();
            SimulatedProcess.Result r =
                    p.get(1, ring, KEY).room(384).waiting(9_000_000).run();
            assertEquals(Completion.OK, r.status(), "after " + numbers.size() + " elements");
            if (r.tag() == -1) {
                return numbers;
            }
            numbers.add(number(p.inline(room, r.length()), "element"));
            assertEquals(r.tag(), numbers.get(numbers.size() - 1).longValue());
        }
    }
}
