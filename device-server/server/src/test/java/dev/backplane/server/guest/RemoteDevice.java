// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.guest;

import dev.backplane.vfiouser.client.ClientIoEvent;
import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A device behind its socket, with shared memory that it may access. One thread. */
public class RemoteDevice implements AutoCloseable {
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final VarHandle WORD = INT.varHandle();

    private static final long RAM = 0x1_0000_0000L;
    private static final int COMMAND_REGISTER = 4;
    private static final int MEMORY_AND_BUS_MASTER = 6;
    private static final long LIMIT_NANOS = 20_000_000_000L;

    private final boolean shared;
    private VfioUserClient client;
    private final ClientMemory.Block block;
    private final Arena arena = Arena.ofShared();
    private final Map<Doorbell, ClientIoEvent> doorbells = new HashMap<>();
    private long allocated;

    private record Doorbell(int bar, long offset) {}

    /** Connects, shares memory and enables the device on the bus. */
    RemoteDevice(Path socket, long ramBytes) throws IOException {
        this(socket, ramBytes, true);
    }

    /** @param shared whether the device may access memory by itself; else it has to ask by messages */
    RemoteDevice(Path socket, long ramBytes, boolean shared) throws IOException {
        this.shared = shared;
        block = ClientMemory.allocate(ramBytes);
        client = connect(socket);
        enableBus();
    }

    final void enableBus() throws IOException {
        client.write(VfioUserClient.CONFIG, COMMAND_REGISTER, 2, MEMORY_AND_BUS_MASTER);
    }

    private VfioUserClient connect(Path socket) throws IOException {
        VfioUserClient to = VfioUserClient.connect(socket);
        if (shared) {
            to.memory().map(RAM, block);
        } else {
            to.memory().mapUnshared(RAM, block.memory(), true);
        }
        return to;
    }

    /** Goes over to the same device of another server, by the migration commands; memory comes along as it is. */
    public void moveTo(Path socket) throws IOException {
        byte[] state = client.migration().save();
        VfioUserClient to = connect(socket);
        doorbells.values().forEach(ClientIoEvent::close);
        doorbells.clear();
        client.close();
        client = to;
        to.migration().restore(state);
    }

    public final VfioUserClient client() {
        return client;
    }

    /** All of the guest's memory; stays readable until {@link #close}. */
    public final MemorySegment memory() {
        return block.memory();
    }

    /** Leaves without a word, as a virtual machine that is killed; its memory can still be looked at. */
    public final void leave() {
        doorbells.values().forEach(ClientIoEvent::close);
        doorbells.clear();
        client.close();
    }

    final long allocate(long bytes, long alignment) {
        allocated = (allocated + alignment - 1) / alignment * alignment;
        long at = allocated;
        allocated += bytes;
        return RAM + at;
    }

    /** The memory behind an address that was allocated. */
    final MemorySegment at(long address, long bytes) {
        return block.memory().asSlice(address - RAM, bytes);
    }

    /** A BAR's first mappable area. */
    final MemorySegment mapBar(int bar) throws IOException {
        return client.map(bar, 0, arena);
    }

    final void write32(int bar, long offset, long value) throws IOException {
        client.write(bar, offset, 4, value);
    }

    /** Rings doorbells without messages from now on, as far as the server offers it; returns how many. */
    public final int useIoEvents() throws IOException {
        for (int bar = 0; bar <= 4; bar += 2) {
            if (client.region(bar).bytes() > 0) {
                for (ClientIoEvent e : client.ioEvents(bar, arena)) {
                    doorbells.put(new Doorbell(bar, e.offset()), e);
                }
            }
        }
        return doorbells.size();
    }

    final void ring(int bar, long offset) throws IOException {
        ClientIoEvent event = doorbells.get(new Doorbell(bar, offset));
        if (event == null) {
            write32(bar, offset, 1);
        } else {
            event.write(1);
        }
    }

    final void write64(long offset, long value) throws IOException {
        client.write(0, offset, 8, value);
    }

    final long read32(long offset) throws IOException {
        return client.read(0, offset, 4);
    }

    /** Waits for what the device does by itself. */
    static void await(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > LIMIT_NANOS) {
                throw new AssertionError("waited in vain for " + what);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    /** As {@link #await}, for what this device does: what it asks for by messages meanwhile it gets. */
    final void awaitDevice(String what, BooleanSupplier condition) {
        await(what, () -> {
            if (!shared) {
                serve();
            }
            return condition.getAsBoolean();
        });
    }

    /** Answers what the device has asked for. */
    public final void serve() {
        try {
            client.serve(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Something to wait for that may fail. */
    @FunctionalInterface
    public interface Condition {
        boolean test() throws IOException;
    }

    /** Waits for what the server does by itself. */
    public static void awaitTrue(String what, Condition condition) {
        await(what, () -> {
            try {
                return condition.test();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** Leaves, and frees the memory. */
    @Override
    public final void close() {
        leave();
        arena.close();
        block.close();
    }
}
