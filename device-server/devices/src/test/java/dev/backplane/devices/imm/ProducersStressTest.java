// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.loop.Workers;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Producers on three nodes put elements of random sizes into one small ring, inline and from registered memory, waiting
 * and trying again, up to eight in flight; some of them die at any moment and are born again. Every element that was
 * confirmed arrives exactly once, none that was refused, in order for each context, with its CRC intact.
 *
 * <p>{@code -Dimm.stress=SECONDS} makes it last so long; more than 20 minutes need {@code -Dbackplane.fork.limit=SECONDS},
 * too, the limit that the build has for a module's tests.
 */
@Timeout(24 * 3600)
class ProducersStressTest {
    private static final long STRESS_SECONDS = Long.getLong("imm.stress", 0);
    private static final int NODES = 3;
    private static final int PROCESSES = 4;
    private static final int ELEMENTS = STRESS_SECONDS > 0 ? 20_000 : 1_000;
    private static final int RING = 16_384;
    private static final int HEADER = 12;
    private static final int LONGEST = RING / 2 - ElementHeader.BYTES;
    private static final int MEMORY = 0;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private long elements;
    private long deaths;
    private long refused;

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    @Test
    void everyConfirmedElementArrivesOnceInOrderAndWhole() {
        assertTimeoutPreemptively(Duration.ofSeconds(120 + 2 * STRESS_SECONDS), () -> {
            long end = System.nanoTime() + STRESS_SECONDS * 1_000_000_000L;
            int round = 0;
            do {
                run(round % 4 == 1 ? Workers.Mode.DEBUG : Workers.Mode.INLINE, 42L + round);
                round++;
                if (STRESS_SECONDS > 0) {
                    System.out.printf(
                            "round %d: %,d elements, %,d deaths, %,d times FULL so far%n",
                            round, elements, deaths, refused);
                }
            } while (System.nanoTime() - end < 0 || round < 2);
        });
    }

    /** What a process with one context did from its birth to its death. */
    private static final class Life {
        final BitSet confirmed = new BitSet();
        final BitSet failed = new BitSet();
        int submitted;
    }

    /** A process that is born again when it dies. */
    private static final class Producer implements Runnable {
        private final SimulatedDriver driver;
        private final int context;
        private final int ring;
        private final boolean mortal;
        private final boolean waits;
        private final Random random;
        private final long buffer;
        private final List<Life> lives = new ArrayList<>();
        private SimulatedProcess process;
        private long full;

        Producer(SimulatedDriver driver, int context, int ring, boolean mortal, long seed) {
            this.driver = driver;
            this.context = context;
            this.ring = ring;
            this.mortal = mortal;
            this.random = new Random(seed);
            this.waits = context % 4 < 2;
            this.buffer = driver.guest.allocate((long) LONGEST * ContextPage.SLOTS, 4096);
            born();
        }

        private void born() {
            synchronized (driver) {
                process = driver.open(context);
                assertEquals(0, process.complete(), "a new process sees nothing old");
                driver.register(process, MEMORY, buffer, (long) LONGEST * ContextPage.SLOTS, 0, 0);
            }
            lives.add(new Life());
        }

        @Override
        public void run() {
            for (int left = ELEMENTS; left > 0; ) {
                // Order is promised for what is in flight together only while nothing fails: FULL is tried again alone.
                int batch = waits ? Math.min(left, 1 + random.nextInt(ContextPage.SLOTS)) : 1;
                left -= batch;
                put(batch);
            }
        }

        private void put(int batch) {
            Life life = lives.getLast();
            int first = life.submitted;
            life.submitted += batch;
            byte[][] payloads = new byte[batch][];
            for (int i = 0; i < batch; i++) {
                payloads[i] = payload(lives.size() - 1, first + i);
                submit(first + i, payloads[i]);
            }
            if (mortal && random.nextInt(20) == 0) {
                for (int spin = random.nextInt(2000); spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                synchronized (driver) {
                    driver.close(process);
                }
                born();
                return;
            }
            for (int i = 0; i < batch; i++) {
                int status = process.await().status();
                while (status == Completion.FULL) {
                    full++;
                    Thread.onSpinWait();
                    submit(first + i, payloads[i]);
                    status = process.await().status();
                }
                assertTrue(
                        status == Completion.OK || (waits && status == Completion.TIMED_OUT),
                        "status " + status + " of element " + (first + i) + " by " + this);
                (status == Completion.OK ? life.confirmed : life.failed).set(first + i);
            }
        }

        private void submit(int number, byte[] payload) {
            SimulatedProcess.ActionFields a = process.put(1, ring, KEY).tag((long) (lives.size() - 1) << 32 | number);
            if (payload.length <= ContextPage.INLINE_BYTES / ContextPage.SLOTS) {
                a.inline(payload);
            } else {
                long offset = (long) process.slot() * LONGEST;
                driver.guest.at(buffer + offset, payload.length).copyFrom(MemorySegment.ofArray(payload));
                a.memory(MEMORY, offset, payload.length);
            }
            if (waits) {
                a.waiting(Ring.MAX_WAIT_MICROS);
            }
            a.submit();
        }

        private byte[] payload(int life, int number) {
            // Mostly short ones, some that fill half of the ring.
            int most = random.nextInt(16) == 0 ? LONGEST : 800;
            byte[] bytes = new byte[HEADER + random.nextInt(most - HEADER + 1)];
            random.nextBytes(bytes);
            ByteBuffer.wrap(bytes).putInt(0, life).putInt(4, number).putInt(8, crc(bytes, life, number));
            return bytes;
        }

        /** Compares what arrived with what this process knows. */
        void reconcile(List<BitSet> arrived) {
            for (int i = 0; i < lives.size(); i++) {
                Life life = lives.get(i);
                BitSet came = i < arrived.size() ? arrived.get(i) : new BitSet();
                String what = "life " + i + " of " + this;
                BitSet lost = (BitSet) life.confirmed.clone();
                lost.andNot(came);
                assertEquals(new BitSet(), lost, "confirmed but lost in " + what);
                assertTrue(came.length() <= life.submitted, "never submitted in " + what + ": " + came.length());
                assertTrue(!came.intersects(life.failed), "refused but there in " + what);
                if (i == lives.size() - 1) {
                    assertEquals(life.confirmed, came, "the end of " + what);
                }
            }
            assertTrue(arrived.size() <= lives.size(), "a life to come of " + this);
        }

        @Override
        public String toString() {
            return "context " + context + " of " + driver.module;
        }
    }

    private static int crc(byte[] bytes, int life, int number) {
        CRC32 crc = new CRC32();
        crc.update(ByteBuffer.allocate(8).putInt(life).putInt(number).flip());
        crc.update(bytes, HEADER, bytes.length - HEADER);
        return (int) crc.getValue();
    }

    private void run(Workers.Mode mode, long seed) throws Exception {
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withPollers(2, false), mode, 2)) {
            List<Producer> producers = new ArrayList<>();
            SimulatedDriver target = net.node(1);
            SimulatedProcess owner = target.open(0);
            SimulatedRing ring = target.ring(owner, 0, RING, 0, KEY);
            for (int n = 1; n <= NODES; n++) {
                SimulatedDriver d = n == 1 ? target : net.node(n);
                for (int i = 1; i <= PROCESSES; i++) {
                    producers.add(new Producer(d, i, ring.id, i % 2 == 0, seed + 100L * n + i));
                }
            }
            List<Future<?>> running = new ArrayList<>();
            for (Producer p : producers) {
                running.add(threads.submit(p));
            }
            Consumer consumer = new Consumer(ring, owner);
            consumer.takeAll(running);
            for (Producer p : producers) {
                p.reconcile(consumer.arrived(p.driver.module.node().id(), p.context));
                deaths += p.lives.size() - 1;
                refused += p.full;
            }
            assertTrue(refused > 0, "the ring was full");
            elements += consumer.sequence;
        }
    }

    /** The owner of the ring: takes every element and checks it by itself. */
    private static final class Consumer {
        private final SimulatedRing ring;
        private final SimulatedProcess owner;
        private final List<List<BitSet>> sources = new ArrayList<>();
        private long sequence;

        Consumer(SimulatedRing ring, SimulatedProcess owner) {
            this.ring = ring;
            this.owner = owner;
            for (int i = 0; i < (NODES + 1) * 16; i++) {
                sources.add(new ArrayList<>());
            }
        }

        List<BitSet> arrived(int node, int context) {
            return sources.get(node * 16 + context);
        }

        void takeAll(List<Future<?>> producers) throws Exception {
            while (true) {
                boolean last = producers.stream().allMatch(Future::isDone);
                SimulatedRing.Element e = ring.poll();
                if (e != null) {
                    check(e);
                    if (ring.wantsSpace()) {
                        owner.ring();
                    }
                } else if (last) {
                    break;
                } else {
                    Thread.onSpinWait();
                    failed(producers);
                }
            }
            failed(producers);
            assertEquals(RingHeader.STATE_OPEN, ring.state());
        }

        /** Throws what a producer that has ended threw. */
        private static void failed(List<Future<?>> producers) throws Exception {
            for (Future<?> f : producers) {
                if (f.isDone()) {
                    f.get();
                }
            }
        }

        private void check(SimulatedRing.Element e) {
            String what = "element " + sequence + " of node " + e.node() + " context " + e.context() + " with tag "
                    + Long.toHexString(e.tag());
            assertEquals(sequence++, e.sequence(), what);
            ByteBuffer b = ByteBuffer.wrap(e.payload());
            int life = b.getInt(0);
            int number = b.getInt(4);
            assertEquals(e.tag(), (long) life << 32 | number, what);
            assertEquals(crc(e.payload(), life, number), b.getInt(8), "CRC of " + what);
            List<BitSet> lives = arrived(e.node(), e.context());
            assertTrue(life >= lives.size() - 1, what + " after one of life " + (lives.size() - 1));
            while (lives.size() <= life) {
                lives.add(new BitSet());
            }
            assertTrue(
                    number >= lives.get(life).length(),
                    what + " after " + (lives.get(life).length() - 1));
            lives.get(life).set(number);
        }
    }
}
