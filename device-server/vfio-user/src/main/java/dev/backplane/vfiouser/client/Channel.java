// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.SendLock;

/** A socket to the server with what reads and writes messages on it: the connection itself, or its twin. */
final class Channel implements AutoCloseable {
    private final FileDescriptor fd;
    private final MessageReader in;
    private final MessageWriter out;

    /** @param fd the socket, owned from here on */
    Channel(FileDescriptor fd, ClientOptions options) {
        this.fd = fd;
        this.in = new MessageReader(fd, options.maxMessage(), new AdaptiveSpin(options.spin()));
        this.out = new MessageWriter(fd, new SendLock());
    }

    int fd() {
        return fd.value();
    }

    MessageReader in() {
        return in;
    }

    MessageWriter out() {
        return out;
    }

    /** Closing twice does nothing. */
    @Override
    public void close() {
        if (!fd.isClosed()) {
            in.close();
            out.close();
            fd.close();
        }
    }
}
