// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Keeps the messages of several writers on one socket apart. */
public final class SendLock {
    private final ReentrantLock lock = new ReentrantLock();

    void lock() {
        lock.lock();
    }

    boolean tryLock(long nanos) throws InterruptedException {
        return lock.tryLock(nanos, TimeUnit.NANOSECONDS);
    }

    void unlock() {
        lock.unlock();
    }
}
