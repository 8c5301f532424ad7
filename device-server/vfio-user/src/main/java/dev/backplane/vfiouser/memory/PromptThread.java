// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.memory;

/**
 * A thread that must not wait for a guest's client: one that serves a client, since the answer would come to nobody, or one
 * that works for several guests. An access to memory that is not shared, which takes a message and its answer, fails on it
 * at once ({@link GuestMemoryFault.Reason#WOULD_WAIT}); the device has to make it on another thread.
 */
public class PromptThread extends Thread {
    /** @param stackBytes size of its stack; 0 for the usual one */
    @SuppressWarnings("this-escape") // setDaemon() of Thread, which calls nothing of a subclass
    public PromptThread(Runnable task, String name, long stackBytes) {
        super(null, task, name, stackBytes);
        setDaemon(true);
    }

    /** Whether it may wait for the client of that one guest, whose thread it is. */
    protected boolean mayWaitFor(GuestMemory memory) {
        return false;
    }
}
