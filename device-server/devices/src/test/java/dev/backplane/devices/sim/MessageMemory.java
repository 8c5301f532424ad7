// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.sim;

import dev.backplane.vfiouser.memory.DmaTransport;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import dev.backplane.vfiouser.memory.MapRefusedException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Has all of a {@link SimulatedGuest}'s memory accessed by messages, as when its client shares none: which threads waited
 * for this client is remembered, and it can stop to answer. Any thread.
 */
public final class MessageMemory implements DmaTransport {
    private final MemorySegment ram;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<String> threads = new HashSet<>();
    private boolean silent;
    private int held;
    private int waiting;
    private long messages;

    /** Takes the sharing away from a guest that has no device yet. */
    public MessageMemory(SimulatedGuest guest) {
        ram = guest.ram();
        GuestMemory memory = guest.memory();
        memory.unmapAll();
        memory.transport(this);
        try {
            memory.map(SimulatedGuest.RAM_BASE, ram.byteSize(), null, true, () -> {});
        } catch (MapRefusedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether from now on no access is answered; those that wait are, once this is false again. */
    public void silent(boolean now) {
        lock.lock();
        try {
            silent = now;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until an access is not answered; false after ten seconds. */
    public boolean awaitWaiting() throws InterruptedException {
        lock.lock();
        try {
            long left = 10_000_000_000L;
            while (waiting == 0 && left > 0) {
                left = changed.awaitNanos(left);
            }
            return waiting > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Names of the threads that have accessed the memory. */
    public Set<String> threads() {
        lock.lock();
        try {
            return Set.copyOf(threads);
        } finally {
            lock.unlock();
        }
    }

    /** Accesses so far. */
    public long messages() {
        lock.lock();
        try {
            return messages;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void read(long iova, MemorySegment to, long offset, long bytes) {
        answer();
        MemorySegment.copy(ram, iova - SimulatedGuest.RAM_BASE, to, offset, bytes);
    }

    @Override
    public void write(long iova, MemorySegment from, long offset, long bytes) {
        answer();
        MemorySegment.copy(from, offset, ram, iova - SimulatedGuest.RAM_BASE, bytes);
    }

    private void answer() {
        lock.lock();
        try {
            messages++;
            threads.add(Thread.currentThread().getName());
            waiting++;
            changed.signalAll();
            while (silent && held == 0) {
                changed.awaitUninterruptibly();
            }
            waiting--;
            if (held > 0) {
                throw Reason.INTERRUPTED.fault();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void hold() {
        lock.lock();
        try {
            held++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void release() {
        lock.lock();
        try {
            held--;
        } finally {
            lock.unlock();
        }
    }
}
