// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.Poll;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.MessageReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Commands to the server and their replies, and the server's own commands in between. Messages are told apart by
 * direction (the type bits) and matched by id; ids of the two sides have nothing to do with each other.
 */
final class ClientConnection implements AutoCloseable {
    private static final int[] NO_FDS = {};

    /** Executes what the server asks for. */
    interface ServerCommands {
        /** Answers the current message of {@code from}, a command, over the same channel. */
        void answer(Channel from) throws IOException;
    }

    private final Channel channel;
    private final int timeoutMillis;
    private Channel twin;
    private ServerCommands commands;
    private int nextId;

    ClientConnection(Channel channel, int timeoutMillis) {
        this.channel = channel;
        this.timeoutMillis = timeoutMillis;
    }

    void serverCommands(ServerCommands executor) {
        this.commands = executor;
    }

    /** The server's commands come on this channel from here on. */
    void twin(Channel other) {
        this.twin = other;
    }

    /** The memory for a command; its payload, of at most {@code bytes} bytes, starts at {@link Header#BYTES}. */
    MemorySegment begin(int bytes) {
        return channel.out().begin(bytes);
    }

    /** Sends a command that gets no answer, whatever becomes of it. */
    void post(int command, int bytes) throws IOException {
        channel.out().send(nextId++ & 0xffff, command, Header.NO_REPLY, 0, bytes);
    }

    /** Sends a command and waits for its answer, which is then the current message of {@link #reply}. */
    MessageReader call(int command, int bytes) throws IOException {
        return call(command, bytes, NO_FDS);
    }

    /** As {@link #call(int, int)}, with descriptors, which stay the caller's. */
    MessageReader call(int command, int bytes, int[] fds) throws IOException {
        int id = nextId++ & 0xffff;
        channel.out().send(id, command, 0, 0, bytes, fds, fds.length);
        return await(id, command);
    }

    /** The answer to the last call. */
    MessageReader reply() {
        return channel.in();
    }

    /** Waits for the answer to a command; answers the server's commands meanwhile. */
    private MessageReader await(int id, int command) throws IOException {
        MessageReader in = channel.in();
        while (true) {
            if (!receive()) {
                throw new IOException("no answer to " + Command.name(command) + " in " + timeoutMillis + " ms");
            }
            if (!in.isReply()) {
                commands.answer(channel);
                continue;
            }
            if (in.id() != id || in.command() != command) {
                throw new IOException("the answer to " + Command.name(in.command()) + " " + in.id()
                        + " came where that to " + Command.name(command) + " " + id + " was due");
            }
            if ((in.flags() & Header.ERROR_FLAG) != 0) {
                throw new ServerErrorException(Command.name(command), in.error());
            }
            return in;
        }
    }

    /** Waits for a message on the main channel; what comes on the twin meanwhile is answered. */
    private boolean receive() throws IOException {
        if (twin == null || channel.in().hasMore()) {
            return channel.in().receive(timeoutMillis);
        }
        long end = System.nanoTime() + timeoutMillis * 1_000_000L;
        while (System.nanoTime() < end) {
            int ready = Poll.readable(channel.fd(), twin.fd(), timeoutMillis);
            if ((ready & 2) != 0) {
                answerAll(twin, 0);
            }
            if ((ready & 1) != 0) {
                return channel.in().receive(timeoutMillis);
            }
        }
        return false;
    }

    /**
     * Answers the server's commands for as long as they come.
     *
     * @param millis how long to wait for the first
     * @return how many were answered
     */
    int serve(int millis) throws IOException {
        return answerAll(twin == null ? channel : twin, millis);
    }

    private int answerAll(Channel from, int millis) throws IOException {
        int n = 0;
        while (from.in().receive(n == 0 ? millis : 0)) {
            if (from.in().isReply()) {
                throw new IOException("the server answered what nobody has asked");
            }
            commands.answer(from);
            n++;
        }
        return n;
    }

    @Override
    public void close() {
        channel.close();
        if (twin != null) {
            twin.close();
        }
    }
}
