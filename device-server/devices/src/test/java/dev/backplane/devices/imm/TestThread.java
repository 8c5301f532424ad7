// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A thread whose failure is the test's failure. */
final class TestThread {
    private final FutureTask<Void> task;

    private TestThread(Runnable work) {
        task = new FutureTask<>(work, null);
    }

    static TestThread start(Runnable work) {
        TestThread t = new TestThread(work);
        Thread.ofPlatform().daemon(true).start(t.task);
        return t;
    }

    /** Waits for its end; throws what ended it. */
    void finish() {
        try {
            task.get();
        } catch (ExecutionException e) {
            throw new AssertionError("a thread of the test failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
