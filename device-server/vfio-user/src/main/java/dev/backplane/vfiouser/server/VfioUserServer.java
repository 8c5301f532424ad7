// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.interrupt.InterruptController.Kind;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one device on a Unix socket, to one client at a time.
 *
 * <p>A new client takes the place of one that is leaving, such as a guest that is started again right after it was
 * killed; while another stays connected it is turned away. The server's threads are a listening one and, while there is a
 * client, one for it, on which all methods of the {@link PciDevice} are called. All methods here may be called by any
 * thread.
 */
public final class VfioUserServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VfioUserServer.class);
    private static final long ACCEPT_RETRY_NANOS = 100_000_000;

    /**
     * How long a connection that is told to end may take. Only a device that hangs takes longer, or a client that has us
     * close a file whose file system hangs: nothing else may wait for those.
     */
    private static final Duration END_LIMIT = Duration.ofSeconds(10);

    private final ServedDevice device;
    private final ServerOptions options;
    private final ListeningSocket socket;
    private final Path path;
    private final ConnectionCounters counters = new ConnectionCounters();
    private final TraceSwitch trace = new TraceSwitch();
    private final Thread acceptor;

    private volatile Connection connection;
    private volatile boolean closed;
    private long stoppedAt;
    private boolean stopped;

    private VfioUserServer(ServedDevice device, Path path, ListeningSocket socket, ServerOptions options) {
        this.device = device;
        this.path = path;
        this.socket = socket;
        this.options = options;
        this.acceptor = Thread.ofPlatform()
                .name("vfio-user " + options.name() + " listen")
                .daemon()
                .stackSize(128 << 10)
                .unstarted(this::acceptAll);
    }

    /**
     * Makes a socket, readable and writable by its owner only, and starts to listen. A socket that a dead server has left
     * at that path is replaced.
     *
     * @throws ListenException when the path is too long, is taken by a live server or by something else, or cannot be
     *     written: the message says what to do
     */
    public static VfioUserServer listen(PciDevice device, Path path, ServerOptions options) throws ListenException {
        ServedDevice served;
        try {
            served = new ServedDevice(device, options.name());
        } catch (NativeException e) {
            throw new ListenException("no memory for the BARs of " + options.name() + ": " + e.getMessage(), e);
        }
        try {
            VfioUserServer server = new VfioUserServer(served, path, ListeningSocket.open(path), options);
            server.acceptor.start();
            return server;
        } catch (ListenException e) {
            served.close();
            throw e;
        }
    }

    /** Where it listens. */
    public Path path() {
        return path;
    }

    /** Whether there is a client. */
    public boolean connected() {
        Connection c = connection;
        return c != null && !c.hasEnded();
    }

    /** Who is connected, or null. */
    public ClientView client() {
        Connection c = connection;
        return c == null || c.hasEnded() ? null : c.view();
    }

    /** What the connection takes for messages, or took last; null before the first client. */
    public BufferUse bufferUse() {
        Connection c = connection;
        return c == null ? null : c.bufferUse();
    }

    /** Whether the guest lets the device access its memory (Bus Master Enable). */
    public boolean busMaster() {
        return device.busMaster();
    }

    /** Number of DMA windows that the client has mapped. */
    public int windows() {
        return device.memory().windows();
    }

    /** Whether the client has truncated its memory, so that the device cannot work for it any more. */
    public boolean memoryBroken() {
        return device.memory().broken();
    }

    /** All counters of the connection, of interrupts and of guest memory, over all clients. */
    public List<CounterGroup> counters() {
        GuestMemory memory = device.memory();
        return List.of(counters.group(), device.controller().counters(), memory.counters());
    }

    /** Traces all messages to {@code to} from now on, or none for null. */
    public void trace(MessageTrace to) {
        trace.set(to);
    }

    /** Asks the client to release the device (unplug it), as far as it listens to that. */
    public void requestRelease() {
        device.controller().trigger(Kind.REQUEST, 0);
    }

    private void acceptAll() {
        while (!closed) {
            try {
                FileDescriptor client = socket.accept();
                try {
                    welcome(client);
                } catch (InterruptedException e) {
                    client.close();
                    Thread.currentThread().interrupt();
                    return;
                }
            } catch (NativeException e) {
                if (!closed) {
                    acceptFailed(e);
                }
            }
        }
    }

    private void acceptFailed(NativeException e) {
        if (e.errno() == Errno.EMFILE || e.errno() == Errno.ENOMEM) {
            LOG.warn("{}: a client cannot be accepted: {}; it is tried again", options.name(), e.getMessage());
            LockSupport.parkNanos(ACCEPT_RETRY_NANOS);
        } else if (e.errno() == Errno.EINVAL) {
            closed = true;
        }
    }

    private void welcome(FileDescriptor client) throws InterruptedException {
        int pid = 0;
        try {
            pid = UnixSocket.peerPid(client);
        } catch (NativeException e) {
            LOG.debug("{}: {}", options.name(), e.getMessage());
        }
        Connection before = connection;
        if (before != null && !leaves(before)) {
            counters.refusedClients.increment();
            LOG.warn("{}: client {} turned away: another client is connected", options.name(), pid);
            client.close();
            return;
        }
        counters.connects.increment();
        Connection next = new Connection(device, client, pid, options, counters, trace);
        connection = next;
        next.start("vfio-user " + options.name());
        if (closed) {
            next.disconnect();
        }
    }

    /** Whether the client before leaves in time. One that has not said a word so far has to. */
    private boolean leaves(Connection before) throws InterruptedException {
        if (before.awaitEnd(options.takeover())) {
            return true;
        }
        if (before.isAttached()) {
            return false;
        }
        before.disconnect();
        return before.awaitEnd(END_LIMIT);
    }

    /**
     * Stops listening and tells the connection to end, but does not wait for that, which is left to {@link #close}. A program
     * with many servers stops all of them first: so they end at the same time, and those that hang cost one limit in all.
     */
    public synchronized void stop() {
        if (!stopped) {
            stopped = true;
            stoppedAt = System.nanoTime();
            closed = true;
            socket.shutdown();
        }
        Connection c = connection; // or the acceptor finds that it is closed
        if (c != null) {
            c.disconnect();
        }
    }

    /** What is left of the time that a connection may take to end. */
    private synchronized Duration endLimit() {
        Duration left = END_LIMIT.minusNanos(System.nanoTime() - stoppedAt);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /**
     * Stops listening, ends the connection, and returns when the device has been detached and its memory freed, or does not
     * end for some seconds.
     */
    @Override
    public void close() {
        stop();
        boolean interrupted = false;
        boolean ended = true;
        while (true) {
            try {
                acceptor.join();
                Connection c = connection;
                ended = c == null || c.awaitEnd(endLimit());
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        try {
            socket.close();
        } finally {
            if (ended) {
                device.close();
            } else {
                LOG.error("{}: the connection hangs and is left to itself, with all that it holds", options.name());
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
