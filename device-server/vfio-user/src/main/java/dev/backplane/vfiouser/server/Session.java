// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.interrupt.InterruptController.Kind;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.Region;
import java.util.List;

/** What the handlers of one connection share. Confined to the connection's thread, but for {@link #client}. */
final class Session implements AutoCloseable {
    private final ServedDevice device;
    private final MessageReader in;
    private final MessageWriter out;
    private final ConnectionLog log;
    private final ConnectionCounters counters;
    private final FileMappings files;
    private final Migration migration;
    private final MessageDma dma;
    private final Watches watches;
    private final IoEventFds[] ioEvents = new IoEventFds[Region.BAR5 + 1];
    private final int[] replyFds = new int[IoEventFds.MOST + 1];
    private EventFd unmask;
    private int replyFdCount;
    private long loggingPageSize;
    private Runnable afterReply;
    private volatile Capabilities client;

    Session(
            ServedDevice device,
            MessageReader in,
            MessageWriter out,
            MessageDma dma,
            ConnectionLog log,
            ConnectionCounters counters,
            Watches watches) {
        this.device = device;
        this.in = in;
        this.out = out;
        this.dma = dma;
        this.log = log;
        this.counters = counters;
        this.watches = watches;
        this.files = new FileMappings(counters.filesRefused);
        this.migration = new Migration(device);
    }

    ServedDevice device() {
        return device;
    }

    MessageReader in() {
        return in;
    }

    MessageWriter out() {
        return out;
    }

    ConnectionLog log() {
        return log;
    }

    FileMappings files() {
        return files;
    }

    Migration migration() {
        return migration;
    }

    MessageDma dma() {
        return dma;
    }

    /** What the client can take; null until a version has been agreed on. Any thread. */
    Capabilities client() {
        return client;
    }

    void negotiated(Capabilities capabilities) {
        client = capabilities;
    }

    /** The ioeventfds of a region, made when they are first asked for; null when it has none. */
    IoEventFds ioEvents(int region) throws NativeException {
        if (region > Region.BAR5) {
            return null;
        }
        IoEventFds fds = ioEvents[region];
        List<IoEvent> declared = device.ioEvents(region);
        if (fds != null || declared.isEmpty()) {
            return fds;
        }
        IoEventFds made = IoEventFds.create(declared, client.maxMsgFds());
        ioEvents[region] = made;
        for (int i = 0; i < made.events().size(); i++) {
            int register = i;
            watches.add(made.fd(i), "write by ioeventfd", () -> deliver(made, register));
        }
        return made;
    }

    private void deliver(IoEventFds fds, int i) {
        if (migration.state().running()) {
            counters.ioEvents.increment();
            IoEvent e = fds.events().get(i);
            device.bar(e.bar()).deliver(e.offset(), e.width(), fds.value(i));
        } else {
            counters.ioEventsDropped.increment();
        }
    }

    /** Has the pin unmasked whenever {@code event}, which now belongs to this object, is signalled; null for never. */
    void unmaskBy(EventFd event) {
        if (unmask != null) {
            watches.remove(unmask);
            unmask.close();
        }
        unmask = event;
        if (event != null) {
            watches.add(event, "unmask by eventfd", () -> {
                counters.unmaskEvents.increment();
                device.controller().unmask(Kind.INTX, 0);
            });
        }
    }

    /** The page size that the client has wished for its DMA log; 0 while there is none. */
    long loggingPageSize() {
        return loggingPageSize;
    }

    void loggingPageSize(long bytes) {
        loggingPageSize = bytes;
    }

    /** Sends {@code fd} along with the reply; it stays its owner's. */
    void replyWith(int fd) {
        replyFds[replyFdCount++] = fd;
    }

    int[] replyFds() {
        return replyFds;
    }

    int replyFdCount() {
        return replyFdCount;
    }

    /** Sets what is done once the reply has been sent, or turned out not to be sent. */
    void afterReply(Runnable action) {
        afterReply = action;
    }

    /** Ends the handling of a message. */
    void replied() {
        replyFdCount = 0;
        if (afterReply != null) {
            Runnable action = afterReply;
            afterReply = null;
            action.run();
        }
    }

    /** Closes the descriptors by which the client wrote and unmasked. */
    @Override
    public void close() {
        unmaskBy(null);
        watches.close();
        for (IoEventFds fds : ioEvents) {
            if (fds != null) {
                fds.close();
            }
        }
    }
}
