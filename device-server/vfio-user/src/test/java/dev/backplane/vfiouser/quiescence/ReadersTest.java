// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.quiescence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ReadersTest {
    private final Readers readers = new Readers();

    @Test
    void nobodyInsideMeansNoWaiting() {
        for (int i = 0; i < 100; i++) {
            readers.exit(readers.enter());
            assertEquals(0, readers.await());
        }
    }

    @Test
    void waitsForWhoeverEnteredBefore() throws Exception {
        int token = readers.enter();
        AtomicBoolean left = new AtomicBoolean();
        CompletableFuture<Boolean> waited = CompletableFuture.supplyAsync(() -> {
            readers.await();
            return left.get();
        });
        // Others come and go meanwhile; they neither end the wait nor prolong it.
        for (int i = 0; i < 1000; i++) {
            readers.exit(readers.enter());
        }
        assertFalse(waited.isDone());
        left.set(true);
        readers.exit(token);
        assertTrue(waited.get(10, TimeUnit.SECONDS));
    }

    /** What is taken away is marked dead after the wait; nobody inside may ever see it so. */
    @Test
    void nobodySeesWhatIsGone() throws Exception {
        AtomicReference<AtomicBoolean> current = new AtomicReference<>(new AtomicBoolean(true));
        AtomicBoolean stop = new AtomicBoolean();
        List<CompletableFuture<Long>> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(CompletableFuture.supplyAsync(() -> {
                long uses = 0;
                while (!stop.get()) {
                    int token = readers.enter();
                    try {
                        AtomicBoolean alive = current.get();
                        for (int i = 0; i < 20; i++) {
                            if (!alive.get()) {
                                throw new AssertionError("use of what is gone, after " + uses + " good uses");
                            }
                        }
                        uses++;
                    } finally {
                        readers.exit(token);
                    }
                }
                return uses;
            }));
        }
        for (int i = 0; i < 20_000; i++) {
            AtomicBoolean old = current.getAndSet(new AtomicBoolean(true));
            readers.await();
            old.set(false);
        }
        stop.set(true);
        for (CompletableFuture<Long> t : threads) {
            assertTrue(t.get() >= 0);
        }
    }
}
