// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;

/** What the handlers of one connection share. Confined to the connection's thread, but for {@link #client}. */
final class Session {
    private final ServedDevice device;
    private final MessageReader in;
    private final MessageWriter out;
    private final ConnectionLog log;
    private final FileMappings files = new FileMappings();
    private final Migration migration;
    private final MessageDma dma;
    private final int[] replyFds = new int[2];
    private int replyFdCount;
    private Runnable afterReply;
    private volatile Capabilities client;

    Session(ServedDevice device, MessageReader in, MessageWriter out, MessageDma dma, ConnectionLog log) {
        this.device = device;
        this.in = in;
        this.out = out;
        this.dma = dma;
        this.log = log;
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
}
