// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.memory.DmaTransport;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.memory.GuestMemoryFault.Reason;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DmaMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.SendLock;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.protocol.StreamException;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Access to guest memory by DMA_READ and DMA_WRITE, for clients that do not share it: one request at a time, in parts of
 * what the client takes. Requests come from the device's threads; replies from whoever reads the socket, matched by
 * direction and number, so a client may send commands of its own in between.
 *
 * <p>While the connection's thread carries out a command, nobody reads replies; and a command such as an unmapping waits
 * for the very threads that wait for a reply. Such commands {@link #hold} all requests: they are interrupted.
 *
 * <p>A client that has once let the time pass gets no more requests before the next reset, so that it holds up the
 * device's threads only once.
 */
final class MessageDma implements DmaTransport, AutoCloseable {
    /** Most bytes in one request. */
    private static final int CHUNK = 64 << 10;

    /** What the request under way has come to. */
    private enum Outcome {
        WAITING,
        DONE,
        /** Ended by {@link #hold}: the client is not to blame. */
        INTERRUPTED,
        FAILED
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final FileDescriptor socket;
    private final SendLock sendLock;
    private final ConnectionCounters counters;
    private final long timeoutNanos;

    private byte[] data;
    private MessageWriter writer;
    private FileDescriptor twin;
    private MessageReader twinReader;
    private Thread twinThread;
    private int chunk = CHUNK;
    private DmaVariant variant = DmaVariant.SPECIFICATION;
    private int held;
    private boolean stalled;
    private boolean dead;
    private boolean used;

    private boolean underWay;
    private int id;
    private int command;
    private long address;
    private int count;
    private int replyBytes;
    private Outcome outcome = Outcome.DONE;

    MessageDma(FileDescriptor socket, SendLock sendLock, Duration timeout, ConnectionCounters counters) {
        this.socket = socket;
        this.sendLock = sendLock;
        this.timeoutNanos = timeout.toNanos();
        this.counters = counters;
    }

    /** What the client has said about itself. */
    void peer(int minor, Capabilities client) {
        lock.lock();
        try {
            chunk = (int) Math.min(CHUNK, client.maxDataXferSize());
            dead |= chunk == 0;
            boolean likeQemu =
                    minor == 0 && client.writeMultiple() && client.migrationPgsize() != 0 && !client.twinSocket();
            variant = likeQemu ? DmaVariant.UNKNOWN : DmaVariant.SPECIFICATION;
        } finally {
            lock.unlock();
        }
    }

    /** Sends requests over a socket of their own from now on, and reads the replies there. */
    void useTwin(FileDescriptor ours) {
        lock.lock();
        try {
            twin = ours;
            writer = new MessageWriter(ours, new SendLock());
            twinReader = new MessageReader(ours, Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)));
            twinThread = Thread.ofPlatform()
                    .name(Thread.currentThread().getName() + " twin")
                    .daemon()
                    .start(this::readTwin);
        } finally {
            lock.unlock();
        }
    }

    private void readTwin() {
        try {
            while (true) {
                twinReader.receive();
                if (!twinReader.isReply() || !reply(twinReader)) {
                    counters.unsolicited.increment();
                }
            }
        } catch (StreamException e) {
            kill();
        }
    }

    /** Whether a request was ever sent, so that a reply may be a late one. */
    boolean used() {
        lock.lock();
        try {
            return used;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void read(long iova, MemorySegment to, long offset, long bytes) {
        transfer(Command.DMA_READ, iova, to, offset, bytes);
    }

    @Override
    public void write(long iova, MemorySegment from, long offset, long bytes) {
        transfer(Command.DMA_WRITE, iova, from, offset, bytes);
    }

    private void transfer(int what, long iova, MemorySegment memory, long offset, long bytes) {
        lock.lock();
        try {
            long done = 0;
            while (done < bytes) {
                awaitTurn();
                if (what == Command.DMA_WRITE && variant == DmaVariant.UNKNOWN) {
                    learnVariant(iova);
                }
                int n = (int) Math.min(bytes - done, chunk);
                request(what, iova + done, memory, offset + done, n);
                if (what == Command.DMA_READ) {
                    MemorySegment.copy(data, dataStart(iova, n), memory, ValueLayout.JAVA_BYTE, offset + done, n);
                }
                done += n;
            }
        } finally {
            lock.unlock();
        }
    }

    private void awaitTurn() {
        while (underWay && !refusing()) {
            changed.awaitUninterruptibly();
        }
        if (refusing()) {
            throw fault(dead || stalled ? Reason.BROKEN : Reason.INTERRUPTED);
        }
    }

    private boolean refusing() {
        return dead || stalled || held > 0;
    }

    /**
     * Finds out by a write of nothing which layout the client has: its answer is a bare header or repeats the address.
     */
    private void learnVariant(long iova) {
        request(Command.DMA_WRITE, iova, MemorySegment.NULL, 0, 0);
        variant = replyBytes == 0 ? DmaVariant.QEMU : DmaVariant.SPECIFICATION;
    }

    /** Where the data of a read's reply starts; asks once more if the reply itself does not tell. */
    private int dataStart(long iova, int n) {
        if (variant == DmaVariant.UNKNOWN) {
            variant = DmaVariant.ofReadReply(data, n);
            if (variant == DmaVariant.UNKNOWN && !DmaVariant.allZero(data, n)) {
                learnVariant(iova);
            }
        }
        return variant.dataOffset();
    }

    /** Sends one request and waits for what becomes of it. */
    private void request(int what, long iova, MemorySegment memory, long offset, int n) {
        if (writer == null) {
            writer = new MessageWriter(socket, sendLock);
        }
        if (data == null) {
            data = new byte[DmaMessages.ACCESS_DATA + CHUNK];
        }
        used = true;
        underWay = true;
        id = (id + 1) & 0xffff;
        command = what;
        address = iova;
        count = n;
        outcome = Outcome.WAITING;
        counters.dmaMessages.increment();
        try {
            int body = DmaMessages.ACCESS_DATA + (what == Command.DMA_WRITE ? n : 0);
            MemorySegment out = writer.begin(body);
            out.set(Wire.U64, Header.BYTES + DmaMessages.ACCESS_ADDRESS, iova);
            // For QEMU the upper half of the count is the first of the data, and what it leaves over is padding.
            out.set(Wire.U64, Header.BYTES + DmaMessages.ACCESS_COUNT, n);
            if (what == Command.DMA_WRITE && n > 0) {
                long at = (long) Header.BYTES + variant.dataOffset();
                MemorySegment.copy(memory, offset, out, at, n);
                if (variant == DmaVariant.QEMU) {
                    out.set(Wire.U32, at + n, 0);
                }
            }
            exchange(what, body);
        } finally {
            underWay = false;
            changed.signalAll();
        }
    }

    private void exchange(int what, int body) {
        long deadline = System.nanoTime() + timeoutNanos;
        boolean sent;
        // The writer is ours alone, as a request is under way; the lock is free for the reply and for those who wait.
        lock.unlock();
        try {
            sent = writer.trySend(id, what, Header.TYPE_COMMAND, 0, body, timeoutNanos);
        } catch (StreamException e) {
            sent = false;
        } finally {
            lock.lock();
        }
        long left = deadline - System.nanoTime();
        while (sent && outcome == Outcome.WAITING && left > 0) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        if (!sent || outcome == Outcome.WAITING) {
            stalled |= left <= 0 || !sent;
            outcome = Outcome.FAILED;
        }
        if (outcome != Outcome.DONE) {
            throw fault(outcome == Outcome.INTERRUPTED ? Reason.INTERRUPTED : Reason.BROKEN);
        }
    }

    private GuestMemoryFault fault(Reason reason) {
        counters.dmaFailures.increment();
        return reason.fault();
    }

    /** A reply has come. Returns false when nobody waits for it. */
    boolean reply(MessageReader in) {
        lock.lock();
        try {
            if (!underWay || outcome != Outcome.WAITING || in.id() != id || in.command() != command) {
                return false;
            }
            outcome = accept(in) ? Outcome.DONE : Outcome.FAILED;
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean accept(MessageReader in) {
        replyBytes = in.bodyBytes();
        if ((in.flags() & Header.ERROR_FLAG) != 0) {
            return false;
        }
        if (command == Command.DMA_WRITE) {
            return true;
        }
        if (in.bodyBytes() != DmaMessages.ACCESS_DATA + count
                || in.u64(DmaMessages.ACCESS_ADDRESS) != address
                || in.u32(DmaMessages.ACCESS_COUNT) != count
                || (variant == DmaVariant.SPECIFICATION && in.u64(DmaMessages.ACCESS_COUNT) != count)) {
            return false;
        }
        MemorySegment.copy(in.memory(), ValueLayout.JAVA_BYTE, in.bodyStart(), data, 0, in.bodyBytes());
        return true;
    }

    @Override
    public void hold() {
        lock.lock();
        try {
            held++;
            end(Outcome.INTERRUPTED);
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

    /** The device has been reset: a client that did not answer gets another chance. */
    void reset() {
        lock.lock();
        try {
            stalled = false;
        } finally {
            lock.unlock();
        }
    }

    private void end(Outcome how) {
        if (outcome == Outcome.WAITING) {
            outcome = how;
        }
        changed.signalAll();
    }

    /** Fails the request under way and all that come: nobody will read replies any more. */
    void kill() {
        lock.lock();
        try {
            dead = true;
            end(Outcome.FAILED);
        } finally {
            lock.unlock();
        }
    }

    /** After {@link #kill} and when no thread can come any more. */
    @Override
    public void close() {
        kill();
        if (twin != null) {
            UnixSocket.shutdown(twin);
            joinTwin();
            twinReader.close();
        }
        if (writer != null) {
            writer.close();
        }
        if (twin != null) {
            twin.close();
        }
    }

    private void joinTwin() {
        boolean interrupted = false;
        while (true) {
            try {
                twinThread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
