// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static dev.backplane.vfiouser.client.ClientConnection.INT;
import static dev.backplane.vfiouser.client.ClientConnection.LONG;
import static dev.backplane.vfiouser.client.ClientConnection.SHORT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.backplane.vfiouser.client.ClientSocket.Header;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A vfio-user client: it has one device behind a server's socket to itself, as a virtual machine monitor has. It owns no
 * thread. The server's own commands (reads and writes of memory that is not shared) are answered inside every call and
 * by {@link #serve}.
 *
 * <p>One thread uses it and what it hands out; memory that is mapped, and waiting for interrupts, are any thread's. A
 * register access allocates nothing.
 *
 * <p>Methods throw {@link ServerErrorException} when the server refuses a command, {@link java.io.EOFException} when it
 * has closed the connection, and another {@link IOException} when it breaks the protocol or does not answer in time;
 * after the latter two the client can only be closed.
 */
public final class VfioUserClient implements AutoCloseable {
    /** Index of the region that is configuration space. */
    public static final int CONFIG = 7;

    private static final int INFO_BYTES = 16;
    private static final int ACCESS_BYTES = 16;

    private final ClientConnection connection;
    private final ServerCapabilities server;
    private final int transferBytes;
    private final ClientMemory memory;
    private final ClientInterrupts interrupts;
    private final ClientMigration migration;
    private final RegionInfo regions;

    private VfioUserClient(ClientConnection connection, ServerCapabilities server, ClientOptions options) {
        this.connection = connection;
        this.server = server;
        this.transferBytes = (int) Math.min(server.maxTransferBytes(), options.maxTransferBytes());
        this.memory = new ClientMemory(connection);
        this.interrupts = new ClientInterrupts(connection, server.maxFds());
        this.migration = new ClientMigration(connection, transferBytes);
        this.regions = new RegionInfo(connection);
        connection.serverCommands(memory::answer);
    }

    /** Connects to the server at {@code socket} and negotiates. */
    public static VfioUserClient connect(Path socket) throws IOException {
        return connect(socket, ClientOptions.DEFAULT);
    }

    /** Connects to the server at {@code socket} and negotiates. */
    public static VfioUserClient connect(Path socket, ClientOptions options) throws IOException {
        int largest = Header.BYTES + ACCESS_BYTES + Math.max(1 << 20, options.maxTransferBytes());
        ClientConnection connection = new ClientConnection(
                new ClientSocket(UnixSocket.connect(socket), options.maxFds(), largest, options.spinNanos()),
                options.timeoutMillis());
        try {
            ServerCapabilities server = negotiate(connection, options);
            twin(connection, server, options, largest);
            return new VfioUserClient(connection, server, options);
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static ServerCapabilities negotiate(ClientConnection connection, ClientOptions options) throws IOException {
        byte[] json = ServerCapabilities.proposal(options);
        int bytes = 4 + json.length + 1;
        MemorySegment o = connection.out(bytes);
        o.set(SHORT, 16, (short) ServerCapabilities.MAJOR);
        o.set(SHORT, 18, (short) ServerCapabilities.MINOR);
        MemorySegment.copy(json, 0, o, JAVA_BYTE, 20, json.length);
        o.set(JAVA_BYTE, 20L + json.length, (byte) 0);
        int got = connection.call(Commands.VERSION, bytes);
        if (got < 4) {
            throw new IOException("the server's answer to VERSION has " + got + " bytes");
        }
        MemorySegment in = connection.in();
        int at = connection.payload();
        byte[] answer = in.asSlice(at + 4L, Math.max(0, got - 5)).toArray(JAVA_BYTE);
        return ServerCapabilities.parse(in.get(SHORT, at) & 0xffff, in.get(SHORT, at + 2L) & 0xffff, answer);
    }

    private static void twin(ClientConnection connection, ServerCapabilities server, ClientOptions options, int largest)
            throws IOException {
        if (server.twinFd() < 0) {
            return;
        }
        int[] fds = connection.takeFds();
        for (int i = 0; i < fds.length; i++) {
            if (i != server.twinFd()) {
                FileDescriptor.close(fds[i]);
            }
        }
        if (server.twinFd() >= fds.length) {
            throw new IOException("the server named a twin socket that it did not send");
        }
        connection.twin(new ClientSocket(
                FileDescriptor.own(fds[server.twinFd()]), options.maxFds(), largest, options.spinNanos()));
    }

    /** What was negotiated. */
    public ServerCapabilities server() {
        return server;
    }

    /** Memory for the device to use. */
    public ClientMemory memory() {
        return memory;
    }

    /** The device's interrupts. */
    public ClientInterrupts interrupts() {
        return interrupts;
    }

    /** Saving and restoring the device's state. */
    public ClientMigration migration() {
        return migration;
    }

    /** Number of regions the device has. */
    public int regionCount() throws IOException {
        info();
        return connection.in().get(INT, connection.payload() + 8L);
    }

    /** Whether the device can be reset. */
    public boolean resettable() throws IOException {
        info();
        return (connection.in().get(INT, connection.payload() + 4L) & 1) != 0;
    }

    private void info() throws IOException {
        MemorySegment o = connection.out(INFO_BYTES);
        o.set(INT, 16, INFO_BYTES);
        o.asSlice(20, 12).fill((byte) 0);
        connection.callPlain(Commands.GET_INFO, INFO_BYTES);
    }

    /** Asks the server about a region; the answer is kept. */
    public Region region(int index) throws IOException {
        return regions.of(index);
    }

    /**
     * Maps an area of a region into this process.
     *
     * @param area number of the area in {@link Region#areas}
     * @param arena unmaps when it is closed
     */
    public MemorySegment map(int index, int area, Arena arena) throws IOException {
        return regions.map(index, area, arena);
    }

    /**
     * Reads a register.
     *
     * @param region index of its region
     * @param width 1, 2, 4 or 8 bytes
     * @return the value, zero-extended
     */
    public long read(int region, long offset, int width) throws IOException {
        request(region, offset, width);
        connection.callPlain(Commands.REGION_READ, ACCESS_BYTES);
        MemorySegment in = connection.in();
        long at = connection.payload() + (long) ACCESS_BYTES;
        return switch (width) {
            case 1 -> in.get(JAVA_BYTE, at) & 0xffL;
            case 2 -> in.get(SHORT, at) & 0xffffL;
            case 4 -> in.get(INT, at) & 0xffff_ffffL;
            case 8 -> in.get(LONG, at);
            default -> throw badWidth(width);
        };
    }

    /** Reads 32 bits of a region. */
    public int readInt(int region, long offset) throws IOException {
        return (int) read(region, offset, 4);
    }

    /** Writes a register and waits until the device has taken it. Width as for {@link #read}. */
    public void write(int region, long offset, int width, long value) throws IOException {
        value(region, offset, width, value);
        connection.callPlain(Commands.REGION_WRITE, ACCESS_BYTES + width);
    }

    /** Writes 32 bits of a region and waits until the device has taken them. */
    public void writeInt(int region, long offset, int value) throws IOException {
        write(region, offset, 4, value);
    }

    /**
     * Writes a register and does not wait (No_reply). The device takes it before any later command; an error is counted
     * by the server and otherwise unseen.
     */
    public void post(int region, long offset, int width, long value) throws IOException {
        value(region, offset, width, value);
        connection.post(Commands.REGION_WRITE, ACCESS_BYTES + width);
    }

    /** Reads a part of a region into {@code to}, in as many messages as it takes. */
    public void read(int region, long offset, MemorySegment to) throws IOException {
        long done = 0;
        while (done < to.byteSize()) {
            int n = (int) Math.min(to.byteSize() - done, transferBytes);
            request(region, offset + done, n);
            connection.callPlain(Commands.REGION_READ, ACCESS_BYTES);
            MemorySegment.copy(connection.in(), connection.payload() + (long) ACCESS_BYTES, to, done, n);
            done += n;
        }
    }

    /** Writes {@code from} to a part of a region, in as many messages as it takes. */
    public void write(int region, long offset, MemorySegment from) throws IOException {
        long done = 0;
        while (done < from.byteSize()) {
            int n = (int) Math.min(from.byteSize() - done, transferBytes);
            MemorySegment o = connection.out(ACCESS_BYTES + n);
            request(o, region, offset + done, n);
            MemorySegment.copy(from, done, o, Header.BYTES + (long) ACCESS_BYTES, n);
            connection.callPlain(Commands.REGION_WRITE, ACCESS_BYTES + n);
            done += n;
        }
    }

    private void request(int region, long offset, int count) {
        request(connection.out(ACCESS_BYTES), region, offset, count);
    }

    private static void request(MemorySegment o, int region, long offset, int count) {
        o.set(LONG, 16, offset);
        o.set(INT, 24, region);
        o.set(INT, 28, count);
    }

    private void value(int region, long offset, int width, long value) {
        MemorySegment o = connection.out(ACCESS_BYTES + 8);
        request(o, region, offset, width);
        switch (width) {
            case 1 -> o.set(JAVA_BYTE, 32, (byte) value);
            case 2 -> o.set(SHORT, 32, (short) value);
            case 4 -> o.set(INT, 32, (int) value);
            case 8 -> o.set(LONG, 32, value);
            default -> throw badWidth(width);
        }
    }

    private static IllegalArgumentException badWidth(int width) {
        return new IllegalArgumentException("a register access has 1, 2, 4 or 8 bytes, not " + width);
    }

    /** Resets the device. Windows and interrupts stay as they are. */
    public void reset() throws IOException {
        connection.callPlain(Commands.RESET, 0);
    }

    /**
     * Answers the server's commands for as long as they come.
     *
     * @param millis how long to wait for the first; 0 to look only
     * @return how many were answered
     */
    public int serve(int millis) throws IOException {
        return connection.serve(millis);
    }

    /** Leaves without a word, as a virtual machine that ends. Blocks of memory stay their owners'. */
    @Override
    public void close() {
        interrupts.close();
        memory.close();
        connection.close();
    }
}
