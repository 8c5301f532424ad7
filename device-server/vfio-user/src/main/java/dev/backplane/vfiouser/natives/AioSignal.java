// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Adds 1 to an event counter as the kernel itself does, which never waits: a write waits when the counter is full and its
 * owner has the descriptor in blocking mode, and between any look at both and the write the owner can make it so. So the
 * server does not write. It submits a read of no bytes ({@code io_submit}), which for an event descriptor is too short and
 * fails inside the call, and asks that this completion be told to the descriptor (IOCB_FLAG_RESFD): a counter that is full
 * stays full. One system call, about as long as a poll and a write.
 */
final class AioSignal {
    /** Size of {@code struct iocb} (linux/aio_abi.h), and of the pointer to it that {@code io_submit} takes. */
    static final int BYTES = 72;

    private static final int POINTER = 64;
    private static final int IOCB_OPCODE = 16;
    private static final int IOCB_FD = 20;
    private static final int IOCB_BUFFER = 24;
    private static final int IOCB_FLAGS = 56;
    private static final int IOCB_RESFD = 60;
    private static final short IOCB_CMD_PREAD = 0;
    private static final int IOCB_FLAG_RESFD = 1;

    // struct aio_ring: the address of the context is that of the ring, which the process may read and consume itself.
    private static final int RING_HEAD = 8;
    private static final int RING_TAIL = 12;
    private static final int RING_MAGIC = 16;
    private static final int RING_BYTES = 32;
    private static final int MAGIC = 0xa10a10a1;

    private static final int EVENTS = 128;

    /** More failures in a row than threads can cause that submit and consume at once. */
    private static final int ATTEMPTS = 64;

    private static final VarHandle WORD = JAVA_INT.varHandle();

    private static final boolean X86 = System.getProperty("os.arch").equals("amd64");
    private static final long IO_SETUP = X86 ? 206 : 0;
    private static final long IO_SUBMIT = X86 ? 209 : 2;

    /** The process's one context, or null where the kernel has none for us. */
    private static final AioSignal SHARED = open();

    private final long context;
    private final MemorySegment ring;

    private AioSignal(long context, MemorySegment ring) {
        this.context = context;
        this.ring = ring;
    }

    @SuppressWarnings("restricted")
    private static AioSignal open() {
        try (NativeBuffer context = NativeBuffer.allocate(8)) {
            if (Libc.syscall(IO_SETUP, EVENTS, context.address(), 0, 0) < 0) {
                return null;
            }
            long id = context.segment().get(JAVA_LONG, 0);
            MemorySegment ring = MemorySegment.ofAddress(id).reinterpret(RING_BYTES);
            if (ring.get(JAVA_INT, RING_MAGIC) != MAGIC) {
                return null;
            }
            return new AioSignal(id, ring);
        }
    }

    /** Whether {@link #submit} can work. */
    static boolean available() {
        return SHARED != null;
    }

    /** Fills in the {@link #BYTES} at {@code at}, which start at a multiple of 8 and have to stay, for that descriptor. */
    static void prepare(MemorySegment s, long at, int eventFd) {
        s.set(JAVA_SHORT, at + IOCB_OPCODE, IOCB_CMD_PREAD);
        s.set(JAVA_INT, at + IOCB_FD, eventFd);
        s.set(JAVA_LONG, at + IOCB_BUFFER, s.address() + at);
        s.set(JAVA_INT, at + IOCB_FLAGS, IOCB_FLAG_RESFD);
        s.set(JAVA_INT, at + IOCB_RESFD, eventFd);
        s.set(JAVA_LONG, at + POINTER, s.address() + at);
    }

    /** Signals the descriptor that was prepared at that address. Any thread, also several at once for the same one. */
    static boolean submit(long address) {
        AioSignal a = SHARED;
        for (int i = 0; i < ATTEMPTS; i++) {
            if (Libc.syscallNow(IO_SUBMIT, a.context, 1, address + POINTER) == 1) {
                return true;
            }
            // The ring of completions is full. Nobody reads them: all are thrown away. When threads do this at once,
            // one of
            // them may put the head back a little, which costs somebody a further round.
            WORD.setVolatile(a.ring, (long) RING_HEAD, (int) WORD.getVolatile(a.ring, (long) RING_TAIL));
        }
        return false;
    }
}
