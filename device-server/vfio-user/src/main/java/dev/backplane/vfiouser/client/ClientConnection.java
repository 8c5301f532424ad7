// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.backplane.vfiouser.client.ClientSocket.Header;
import dev.backplane.vfiouser.natives.Poll;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Commands to the server and their replies, and the server's own commands in between. Messages are told apart by
 * direction (the type bits) and matched by id; ids of the two sides have nothing to do with each other.
 */
final class ClientConnection implements AutoCloseable {
    static final ValueLayout.OfShort SHORT = JAVA_SHORT.withByteAlignment(1);
    static final ValueLayout.OfInt INT = JAVA_INT.withByteAlignment(1);
    static final ValueLayout.OfLong LONG = JAVA_LONG.withByteAlignment(1);

    static final int TYPE = 0xf;
    static final int COMMAND = 0;
    static final int REPLY = 1;
    static final int NO_REPLY = 0x10;
    static final int ERROR = 0x20;

    /** Executes what the server asks for. */
    interface ServerCommands {
        /**
         * Answers the current message of {@code socket}, a command. Sends the reply itself, unless the command wants
         * none.
         */
        void answer(ClientSocket socket, int command, int id, boolean wanted) throws IOException;
    }

    private final ClientSocket socket;
    private final int timeoutMillis;
    private ClientSocket twin;
    private ServerCommands commands;
    private int nextId;

    ClientConnection(ClientSocket socket, int timeoutMillis) {
        this.socket = socket;
        this.timeoutMillis = timeoutMillis;
    }

    void serverCommands(ServerCommands commands) {
        this.commands = commands;
    }

    /** The server's commands come on this socket from here on. */
    void twin(ClientSocket twin) {
        this.twin = twin;
    }

    /** The buffer for a command with {@code payload} bytes after the header. */
    MemorySegment out(int payload) {
        return socket.out(Header.BYTES + payload);
    }

    /** Sends a command that wants an answer, whose payload {@link #out} holds; returns its id. */
    int send(int command, int payload, int... fds) throws IOException {
        return send(command, payload, 0, fds);
    }

    /** Sends a command that gets no answer, whatever becomes of it. */
    void post(int command, int payload) throws IOException {
        int size = Header.BYTES + payload;
        Header.put(socket.out(size), nextId++ & 0xffff, command, size, NO_REPLY);
        socket.send(size);
    }

    private int send(int command, int payload, int flags, int[] fds) throws IOException {
        int id = nextId++ & 0xffff;
        int size = Header.BYTES + payload;
        Header.put(socket.out(size), id, command, size, flags);
        socket.send(size, fds);
        return id;
    }

    /** Sends a command and waits for its answer, which is then the current message. Returns the payload's size. */
    int call(int command, int payload, int... fds) throws IOException {
        return await(send(command, payload, fds), command);
    }

    /** As {@link #call}, without descriptors and without allocation. */
    int callPlain(int command, int payload) throws IOException {
        int id = nextId++ & 0xffff;
        int size = Header.BYTES + payload;
        Header.put(socket.out(size), id, command, size, 0);
        socket.send(size);
        return await(id, command);
    }

    /**
     * Waits for the answer to the command with that id; answers the server's commands meanwhile.
     *
     * @return size of the payload in bytes
     * @throws ServerErrorException when the answer is an error
     */
    int await(int id, int command) throws IOException {
        while (true) {
            if (!nextFromEither()) {
                throw new IOException("no answer to command " + command + " in " + timeoutMillis + " ms");
            }
            MemorySegment in = socket.in();
            int at = socket.at();
            int flags = in.get(INT, at + 8L);
            int what = in.get(SHORT, at + 2L) & 0xffff;
            if ((flags & TYPE) == COMMAND) {
                commands.answer(socket, what, Header.id(in, at), (flags & NO_REPLY) == 0);
                continue;
            }
            if (Header.id(in, at) != id || what != command) {
                throw new IOException("the answer to command " + what + ", id " + Header.id(in, at)
                        + " came where that to command " + command + ", id " + id + " was due");
            }
            if ((flags & ERROR) != 0) {
                throw new ServerErrorException("command " + command, in.get(INT, at + 12L));
            }
            return socket.size() - Header.BYTES;
        }
    }

    /** Waits for a message on the main socket; what comes on the twin is answered at once. */
    private boolean nextFromEither() throws IOException {
        if (twin == null || socket.hasMore()) {
            return socket.next(timeoutMillis);
        }
        long end = System.nanoTime() + timeoutMillis * 1_000_000L;
        while (System.nanoTime() < end) {
            int ready = Poll.readable(socket.fd(), twin.fd(), timeoutMillis);
            if ((ready & 2) != 0) {
                answerAll(twin, 0);
            }
            if ((ready & 1) != 0) {
                return socket.next(timeoutMillis);
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
        return answerAll(twin == null ? socket : twin, millis);
    }

    private int answerAll(ClientSocket from, int millis) throws IOException {
        int n = 0;
        while (from.next(n == 0 ? millis : 0)) {
            MemorySegment in = from.in();
            int at = from.at();
            int flags = in.get(INT, at + 8L);
            if ((flags & TYPE) != COMMAND) {
                throw new IOException("the server answered what nobody has asked");
            }
            commands.answer(from, in.get(SHORT, at + 2L) & 0xffff, Header.id(in, at), (flags & NO_REPLY) == 0);
            n++;
        }
        return n;
    }

    /** Holds the current message. */
    MemorySegment in() {
        return socket.in();
    }

    /** Index of the current message's payload in {@link #in}. */
    int payload() {
        return socket.at() + Header.BYTES;
    }

    /** Takes the descriptors of the current message. */
    int[] takeFds() {
        return socket.takeFds();
    }

    /** The file descriptor to wait for, when a client waits for many things at once. */
    int fd() {
        return twin == null ? socket.fd() : twin.fd();
    }

    @Override
    public void close() {
        socket.close();
        if (twin != null) {
            twin.close();
        }
    }
}
