// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.memory.PromptThread;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.SendLock;
import dev.backplane.vfiouser.protocol.StreamException;
import dev.backplane.vfiouser.protocol.StreamException.Reason;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A client's connection: takes its commands one after the other, in order, on a thread of its own, and answers each
 * before it takes the next. When the client has gone, or cannot be trusted any more, the device is detached and all that
 * the client gave is released before another one is served.
 */
final class Connection implements Runnable {
    private static final int STACK_BYTES = 256 << 10;

    private final ServedDevice device;
    private final FileDescriptor socket;
    private final int pid;
    private final ConnectionCounters counters;
    private final ConnectionLog log;
    private final TraceSwitch trace;
    private final MessageReader in;
    private final MessageWriter out;
    private final MessageDma dma;
    private final Watches watches;
    private final Session session;
    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile boolean attached;

    Connection(
            ServedDevice device,
            FileDescriptor socket,
            int pid,
            ServerOptions options,
            ConnectionCounters counters,
            TraceSwitch trace) {
        this.device = device;
        this.socket = socket;
        this.pid = pid;
        this.counters = counters;
        this.trace = trace;
        this.log = new ConnectionLog(options.name(), pid);
        SendLock sendLock = new SendLock();
        this.in = new MessageReader(socket, Limits.MAX_MESSAGE, new AdaptiveSpin(options.spin()));
        this.out = new MessageWriter(socket, sendLock);
        this.dma = new MessageDma(socket, sendLock, options.dmaTimeout(), counters);
        this.watches = new Watches(socket, this::failed);
        this.session = new Session(device, in, out, dma, log, counters, watches);
    }

    /** Starts to serve. */
    void start(String threadName) {
        new PromptThread(this, threadName, STACK_BYTES).start();
    }

    /** Ends the connection as if the client had gone. Any thread. */
    void disconnect() {
        synchronized (socket) {
            UnixSocket.shutdown(socket);
        }
    }

    /** Whether a protocol version has been agreed on, so that the client is one. */
    boolean isAttached() {
        return attached;
    }

    /** Waits until the client has gone and nothing of it is left. Returns whether that is so. */
    boolean awaitEnd(Duration limit) throws InterruptedException {
        return ended.await(limit.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The client, as seen now. Any thread. */
    ClientView view() {
        return new ClientView(pid, session.client());
    }

    /** Bytes outside the heap for the client's messages, now and at most so far, but for its DMA. Any thread. */
    BufferUse bufferUse() {
        return new BufferUse(in.heldBytes() + out.heldBytes(), in.peakBytes() + out.peakBytes());
    }

    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    @Override
    public void run() {
        trace.connection(true);
        try {
            serve();
        } catch (StreamException e) {
            counters.closed(e.reason()).increment();
            if (e.reason() == Reason.PEER_GONE) {
                log.left();
            } else {
                log.closed(e.getMessage());
            }
        } finally {
            leave();
            trace.connection(false);
            ended.countDown();
        }
    }

    private void serve() throws StreamException {
        while (true) {
            serveOne(); // in a method of its own it is compiled as any other, and earlier than a loop that never ends
        }
    }

    private void serveOne() throws StreamException {
        if (!watches.isEmpty() && !in.hasMore()) {
            awaitMessage();
        }
        try {
            in.receive();
        } catch (StreamException e) {
            if (e.reason() == Reason.BAD_SIZE) {
                counters.messages.increment();
                answer(-Errno.EINVAL);
            }
            throw e;
        }
        trace.received(in);
        if (in.isReply() && takeReply()) {
            return;
        }
        counters.messages.increment();
        answer(handle());
        if (!attached) {
            throw new StreamException(Reason.NO_VERSION, "no protocol version was agreed on");
        }
    }

    /** Waits for the client's next bytes; what it signals by event descriptors meanwhile is done. */
    private void awaitMessage() throws StreamException {
        try {
            watches.awaitSocket();
        } catch (NativeException e) {
            throw new StreamException(Reason.PEER_GONE, e.getMessage());
        }
    }

    private void failed(String what, Throwable e) {
        counters.deviceFailures.increment();
        log.deviceFailed(what, e);
    }

    /** Returns false for a reply to nothing, which is answered as the malformed command that it is. */
    private boolean takeReply() {
        if (dma.reply(in)) {
            return true;
        }
        counters.unsolicited.increment();
        return dma.used(); // then it is only late
    }

    /** Carries a command out; whatever the device does, the connection goes on. */
    private int handle() {
        int command = in.command();
        CommandHandler handler = CommandTable.of(command);
        if (handler == null
                || (in.flags() & Header.TYPE_MASK) != Header.TYPE_COMMAND
                || (session.client() == null && command != Command.VERSION)
                || (in.bodyBytes() == 0 && command != Command.DEVICE_RESET)
                || in.fds() > Limits.MAX_MSG_FDS) {
            return -Errno.EINVAL;
        }
        try {
            int result = handler.handle(session);
            if (command == Command.VERSION && result >= 0) {
                device.memory().transport(dma);
                device.attach();
                attached = true;
            }
            return result;
        } catch (RuntimeException | Error e) {
            failed(Command.name(command), e);
            return -Errno.EIO;
        }
    }

    private void answer(int result) throws StreamException {
        boolean posted = (in.flags() & Header.NO_REPLY) != 0;
        // Before the answer: whoever has it can count on nothing being held that was not taken.
        in.dropFds();
        if (result < 0) {
            (posted ? counters.postedFailures : counters.errors).increment();
        }
        try {
            if (posted) {
                counters.posted.increment();
            } else if (result < 0) {
                out.begin(0);
                send(Header.TYPE_REPLY | Header.ERROR_FLAG, -result, 0, 0);
            } else {
                send(Header.TYPE_REPLY, 0, result, session.replyFdCount());
            }
        } finally {
            session.replied();
        }
    }

    private void send(int flags, int error, int bodyBytes, int fds) throws StreamException {
        trace.sending(out, in.id(), in.command(), flags, error, bodyBytes, fds);
        out.send(in.id(), in.command(), flags, error, bodyBytes, session.replyFds(), fds);
    }

    /** Nothing that the client gave outlives this, and no thread of the device uses it any more. */
    private void leave() {
        dma.kill();
        try {
            if (attached) {
                session.migration().leave();
                device.detach();
            }
        } catch (RuntimeException | Error e) {
            failed("detach", e);
        } finally {
            device.release();
            session.close();
            dma.close();
            in.close();
            out.close();
            synchronized (socket) { // disconnect() must not meet another file of that number
                socket.close();
            }
        }
    }
}
