// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.CapabilitiesException;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;
import dev.backplane.vfiouser.protocol.RegionMessages;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * A vfio-user client: it has one device behind a server's socket to itself, as a virtual machine monitor has. It owns no
 * thread. The server's own commands (reads and writes of memory that is not shared) are answered inside every call and
 * by {@link #serve}.
 *
 * <p>One thread uses it and what it hands out; memory that is mapped, and waiting for interrupts, are any thread's. A
 * register access allocates nothing.
 *
 * <p>Methods throw {@link ServerErrorException} when the server refuses a command, {@link
 * dev.backplane.vfiouser.protocol.StreamException} when the connection has ended or cannot be trusted, and another {@link
 * IOException} when it breaks the protocol or does not answer in time; after the latter two the client can only be
 * closed.
 */
public final class VfioUserClient implements AutoCloseable {
    /** Index of the region that is configuration space. */
    public static final int CONFIG = Region.CONFIG;

    private static final int VERSION = DeviceMessages.VERSION.size();
    private static final int INFO = DeviceMessages.INFO.size();
    private static final int ACCESS = RegionMessages.DATA;

    private final ClientConnection connection;
    private final Capabilities server;
    private final int minor;
    private final int transferBytes;
    private final ClientMemory memory;
    private final ClientInterrupts interrupts;
    private final ClientMigration migration;
    private final RegionInfo regions;
    private final IoEventInfo ioEvents;

    private VfioUserClient(ClientConnection connection, Capabilities server, int minor, ClientOptions options) {
        this.connection = connection;
        this.server = server;
        this.minor = minor;
        this.transferBytes = (int) Math.min(server.maxDataXferSize(), options.maxTransferBytes());
        this.memory = new ClientMemory(connection);
        this.interrupts = new ClientInterrupts(connection, server.maxMsgFds());
        this.migration = new ClientMigration(connection, transferBytes);
        this.regions = new RegionInfo(connection);
        this.ioEvents = new IoEventInfo(connection);
        connection.serverCommands(memory::answer);
    }

    /** Connects to the server at {@code socket} and negotiates. */
    public static VfioUserClient connect(Path socket) throws IOException {
        return connect(socket, ClientOptions.DEFAULT);
    }

    /** Connects to the server at {@code socket} and negotiates. */
    public static VfioUserClient connect(Path socket, ClientOptions options) throws IOException {
        ClientConnection connection =
                new ClientConnection(new Channel(UnixSocket.connect(socket), options), options.timeoutMillis());
        try {
            return negotiate(connection, options);
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private static VfioUserClient negotiate(ClientConnection connection, ClientOptions options) throws IOException {
        byte[] proposal = proposal(options).toBytes();
        int bytes = VERSION + proposal.length;
        MemorySegment o = connection.begin(bytes);
        o.set(Wire.U16, Header.BYTES + DeviceMessages.VERSION_MAJOR, (short) DeviceMessages.MAJOR);
        o.set(Wire.U16, Header.BYTES + DeviceMessages.VERSION_MINOR, (short) DeviceMessages.MINOR);
        MemorySegment.copy(proposal, 0, o, JAVA_BYTE, Header.BYTES + (long) VERSION, proposal.length);
        MessageReader reply = connection.call(Command.VERSION, bytes);
        if (reply.bodyBytes() < VERSION) {
            throw new IOException("the server's answer to VERSION has " + reply.bodyBytes() + " bytes");
        }
        int major = reply.u16(DeviceMessages.VERSION_MAJOR);
        int minor = reply.u16(DeviceMessages.VERSION_MINOR);
        if (major != DeviceMessages.MAJOR || minor > DeviceMessages.MINOR) {
            throw new IOException("the server speaks version " + major + "." + minor + " of the protocol");
        }
        Capabilities server = capabilities(reply);
        if (server.twinSocket()) {
            connection.twin(new Channel(twin(reply, server.twinFdIndex()), options));
        }
        return new VfioUserClient(connection, server, minor, options);
    }

    private static Capabilities proposal(ClientOptions options) {
        return new Capabilities(
                options.maxFds(),
                options.maxTransferBytes(),
                Limits.DEFAULT_DMA_MAPS,
                Limits.PAGE,
                0,
                options.twinSocket(),
                -1,
                options.writeMultiple());
    }

    private static Capabilities capabilities(MessageReader reply) throws IOException {
        try {
            return Capabilities.parse(reply.memory()
                    .asSlice(reply.bodyStart() + (long) VERSION, reply.bodyBytes() - VERSION)
                    .toArray(JAVA_BYTE));
        } catch (CapabilitiesException e) {
            throw new IOException("the server's answer to VERSION: " + e.getMessage(), e);
        }
    }

    private static FileDescriptor twin(MessageReader reply, int index) throws IOException {
        if (index < 0 || index >= reply.fds()) {
            throw new IOException("the server named a twin socket that it did not send");
        }
        for (int i = 0; i < index; i++) {
            reply.takeFd().close();
        }
        return reply.takeFd();
    }

    /** What the server said of itself. */
    public Capabilities server() {
        return server;
    }

    /** Minor version of the protocol that was agreed on; the major one is 0. */
    public int minorVersion() {
        return minor;
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
        return info().u32(DeviceMessages.INFO_REGIONS);
    }

    /** Whether the device can be reset. */
    public boolean resettable() throws IOException {
        return (info().u32(DeviceMessages.INFO_FLAGS) & DeviceMessages.INFO_RESET) != 0;
    }

    private MessageReader info() throws IOException {
        MemorySegment o = connection.begin(INFO);
        o.asSlice(Header.BYTES, INFO).fill((byte) 0);
        o.set(Wire.U32, Header.BYTES + DeviceMessages.INFO_ARGSZ, INFO);
        return sized(connection.call(Command.DEVICE_GET_INFO, INFO), INFO);
    }

    /** Asks the server about a region; the answer is kept. */
    public ClientRegion region(int index) throws IOException {
        return regions.of(index);
    }

    /**
     * Maps an area of a region into this process.
     *
     * @param area number of the area in {@link ClientRegion#areas}
     * @param arena unmaps when it is closed
     */
    public MemorySegment map(int index, int area, Arena arena) throws IOException {
        return regions.map(index, area, arena);
    }

    /**
     * Asks for the registers of a region that can be written to without a message; the caller closes them.
     *
     * @param arena for the memory of the values, unmapped when it is closed; a shared one when several threads write
     */
    public List<ClientIoEvent> ioEvents(int index, Arena arena) throws IOException {
        return ioEvents.of(index, arena);
    }

    /**
     * Reads a register.
     *
     * @param region index of its region
     * @param width 1, 2, 4 or 8 bytes
     * @return the value, zero-extended
     */
    public long read(int region, long offset, int width) throws IOException {
        requireWidth(width);
        request(connection.begin(ACCESS), region, offset, width);
        MessageReader reply = sized(connection.call(Command.REGION_READ, ACCESS), ACCESS + width);
        return switch (width) {
            case 1 -> reply.u8(ACCESS);
            case 2 -> reply.u16(ACCESS);
            case 4 -> Integer.toUnsignedLong(reply.u32(ACCESS));
            default -> reply.u64(ACCESS);
        };
    }

    /** Reads 32 bits of a region. */
    public int readInt(int region, long offset) throws IOException {
        return (int) read(region, offset, 4);
    }

    /** Writes a register and waits until the device has taken it. Width as for {@link #read}. */
    public void write(int region, long offset, int width, long value) throws IOException {
        value(region, offset, width, value);
        connection.call(Command.REGION_WRITE, ACCESS + width);
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
        connection.post(Command.REGION_WRITE, ACCESS + width);
    }

    /** Reads a part of a region into {@code to}, in as many messages as it takes. */
    public void read(int region, long offset, MemorySegment to) throws IOException {
        long done = 0;
        while (done < to.byteSize()) {
            int n = (int) Math.min(to.byteSize() - done, transferBytes);
            request(connection.begin(ACCESS), region, offset + done, n);
            MessageReader reply = sized(connection.call(Command.REGION_READ, ACCESS), ACCESS + n);
            MemorySegment.copy(reply.memory(), reply.bodyStart() + (long) ACCESS, to, done, n);
            done += n;
        }
    }

    /** Writes {@code from} to a part of a region, in as many messages as it takes. */
    public void write(int region, long offset, MemorySegment from) throws IOException {
        long done = 0;
        while (done < from.byteSize()) {
            int n = (int) Math.min(from.byteSize() - done, transferBytes);
            MemorySegment o = connection.begin(ACCESS + n);
            request(o, region, offset + done, n);
            MemorySegment.copy(from, done, o, Header.BYTES + (long) ACCESS, n);
            connection.call(Command.REGION_WRITE, ACCESS + n);
            done += n;
        }
    }

    private static void request(MemorySegment o, int region, long offset, int count) {
        o.set(Wire.U64, Header.BYTES + RegionMessages.OFFSET, offset);
        o.set(Wire.U32, Header.BYTES + RegionMessages.REGION, region);
        o.set(Wire.U32, Header.BYTES + RegionMessages.COUNT, count);
    }

    private void value(int region, long offset, int width, long value) {
        requireWidth(width);
        MemorySegment o = connection.begin(ACCESS + Long.BYTES);
        request(o, region, offset, width);
        o.set(Wire.U64, Header.BYTES + ACCESS, value);
    }

    private static void requireWidth(int width) {
        if (width != 1 && width != 2 && width != 4 && width != 8) {
            throw new IllegalArgumentException("a register access has 1, 2, 4 or 8 bytes, not " + width);
        }
    }

    private static MessageReader sized(MessageReader reply, int bytes) throws IOException {
        if (reply.bodyBytes() < bytes) {
            throw new IOException("the answer to " + Command.name(reply.command()) + " has " + reply.bodyBytes()
                    + " bytes, not " + bytes);
        }
        return reply;
    }

    /** Resets the device. Windows and interrupts stay as they are. */
    public void reset() throws IOException {
        connection.call(Command.DEVICE_RESET, 0);
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
