// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A word in shared memory that the kernel changes when this process ends, however it ends: others who map it learn of a
 * SIGKILL without asking anybody. While the process lives the word is the id of a thread; then it is {@link #DEAD}.
 *
 * <p>It is a robust futex (set_robust_list(2), "robust futexes" in the kernel's documentation) whose owner is a thread
 * that only sleeps: when the thread ends, the kernel looks at the futexes in its list and marks those whose owner it is,
 * first of all, before the process's memory and files go. Nobody ever waits for the futex.
 *
 * <p>Whoever else may write the word can only make it useless: the kernel leaves a word alone that is not the thread's.
 */
public final class DeathMark implements AutoCloseable {
    /** The word once the process has ended, or the mark was closed (FUTEX_OWNER_DIED of linux/futex.h). */
    public static final int DEAD = 0x4000_0000;

    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final VarHandle LINK = JAVA_LONG.varHandle();

    /** struct robust_list_head of linux/futex.h: list.next, futex_offset, list_op_pending; then the list's one entry. */
    private static final int HEAD_BYTES = 24;

    private static final int FUTEX_OFFSET = 8;
    private static final int ENTRY = HEAD_BYTES;

    private final MemorySegment word;
    private final NativeBuffer list = NativeBuffer.allocate(HEAD_BYTES + 8);
    private final CompletableFuture<Integer> ready = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean closed;

    private DeathMark(MemorySegment word) {
        this.word = word;
        this.thread = Thread.ofPlatform()
                .name("death-mark")
                .daemon(true)
                .stackSize(128 << 10)
                .unstarted(this::run);
    }

    /**
     * Has a word marked.
     *
     * @param word 4 bytes of shared memory, aligned, that stay mapped until the mark is closed
     * @throws NativeException when the kernel cannot do it: the word is unchanged then
     * @throws IndexOutOfBoundsException when the segment is too small
     * @throws IllegalArgumentException when it is not aligned, or read-only
     */
    public static DeathMark on(MemorySegment word) throws NativeException {
        DeathMark mark = new DeathMark(word);
        boolean marked = false;
        try {
            mark.thread.start();
            int error = mark.await();
            if (error != 0) {
                throw new NativeException("set_robust_list", error);
            }
            marked = true;
        } finally {
            if (!marked) {
                mark.list.close();
            }
        }
        return mark;
    }

    /** What {@link #register} has returned; throws what it has thrown. */
    private int await() {
        try {
            return ready.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException thrown) {
                throw thrown;
            }
            throw e;
        }
    }

    private void run() {
        int error;
        try {
            error = register();
        } catch (Throwable t) {
            // Somebody waits for the outcome, whatever it is.
            ready.completeExceptionally(t);
            return;
        }
        ready.complete(error);
        while (error == 0 && !closed) {
            LockSupport.park(this);
        }
    }

    /** Makes the calling thread the word's owner; 0 or an error number. */
    private int register() {
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        if (!arm && !System.getProperty("os.arch").equals("amd64")) {
            return Errno.ENOSYS;
        }
        int id = (int) Libc.syscall(arm ? 178 : 186, 0, 0, 0, 0); // gettid
        MemorySegment l = list.segment();
        l.set(JAVA_LONG, 0, list.address() + ENTRY);
        l.set(JAVA_LONG, ENTRY, list.address());
        l.set(JAVA_LONG, FUTEX_OFFSET, word.address() - (list.address() + ENTRY));
        WORD.setRelease(word, 0L, id);
        // The C library's own list for this thread is given up: it is for robust mutexes, of which it locks none.
        long result = Libc.syscall(arm ? 99 : 273, list.address(), HEAD_BYTES, 0, 0); // set_robust_list
        if (result < 0) {
            WORD.setRelease(word, 0L, 0);
        }
        return (int) -result;
    }

    /** Marks the word as if the process had ended, and ends the mark: the word may be unmapped. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        // An empty list, so that the end of the thread touches the word no more.
        LINK.setRelease(list.segment(), 0L, list.address());
        WORD.setRelease(word, 0L, DEAD);
        closed = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        list.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
