// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.loop;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.memory.PromptThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A thread for the loops of one guest whose memory is not shared: each access takes a message to its client and back, and
 * the client may take its time. So that it takes nobody else's, these loops run here and nowhere else, a turn of each in
 * turn, and what they wake of others runs on workers. The thread ends when there is nothing to do for a second.
 */
public final class SlowLane {
    private static final long IDLE_SECONDS = 1;

    /** A thread on which nothing but the lane's own loops may run, and that may wait for the lane's guest alone. */
    private final class LaneThread extends PromptThread {
        LaneThread(Runnable task, String name) {
            super(task, name, 0);
        }

        SlowLane lane() {
            return SlowLane.this;
        }

        @Override
        protected boolean mayWaitFor(GuestMemory memory) {
            return memory == guest;
        }
    }

    private final ThreadPoolExecutor thread;
    private volatile GuestMemory guest;

    /** @param name name of the thread */
    public SlowLane(String name) {
        thread = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> new LaneThread(task, name));
        thread.allowCoreThreadTimeOut(true);
    }

    /** Says whose lane it is: whose client its thread may wait for. Any thread. */
    public void serve(GuestMemory memory) {
        guest = memory;
    }

    /** Whether the calling thread is that of this lane. */
    boolean mine() {
        return Thread.currentThread() instanceof LaneThread t && t.lane() == this;
    }

    /** Whether the calling thread is that of a lane. */
    static boolean current() {
        return Thread.currentThread() instanceof LaneThread;
    }

    /** Runs the loop, which has been taken for it, until it has no more to do. */
    void run(DrainLoop loop) {
        thread.execute(() -> {
            if (loop.lane() != this) {
                loop.handOver();
            } else if (loop.step()) {
                run(loop);
            }
        });
    }
}
