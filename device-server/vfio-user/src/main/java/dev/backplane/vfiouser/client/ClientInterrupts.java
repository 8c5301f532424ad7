// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static dev.backplane.vfiouser.client.ClientConnection.INT;

import dev.backplane.vfiouser.natives.EventFd;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** The device's interrupts: event descriptors that the device signals, and their masks. */
public final class ClientInterrupts implements AutoCloseable {
    /** Kinds of interrupt, with their numbers in {@code linux/vfio.h}. */
    public enum Type {
        /** The pin, level-triggered and masked after each signal. */
        INTX(0),
        MSI(1),
        MSIX(2),
        /** The device reports an error that it cannot recover from. */
        ERR(3),
        /** The server asks for the device back. */
        REQ(4);

        private final int index;

        Type(int index) {
            this.index = index;
        }
    }

    /**
     * What DEVICE_GET_IRQ_INFO tells.
     *
     * @param count number of interrupts of the type
     * @param maskable whether it can be masked by the client
     * @param automasked whether it masks itself after each signal
     */
    public record IrqInfo(Type type, int count, boolean maskable, boolean automasked) {}

    private static final int INFO_BYTES = 16;
    private static final int SET_BYTES = 20;
    private static final int NONE = 1;
    private static final int EVENTFD = 4;
    private static final int MASK = 8;
    private static final int UNMASK = 0x10;
    private static final int TRIGGER = 0x20;

    private final ClientConnection connection;
    private final int fdsPerMessage;
    private final Map<Integer, EventFd> events = new HashMap<>();

    /** @param fdsPerMessage most descriptors that the server takes in one message */
    ClientInterrupts(ClientConnection connection, int fdsPerMessage) {
        this.connection = connection;
        this.fdsPerMessage = Math.max(1, fdsPerMessage);
    }

    /** Asks how many interrupts of a type there are. */
    public IrqInfo info(Type type) throws IOException {
        MemorySegment o = connection.out(INFO_BYTES);
        o.set(INT, 16, INFO_BYTES);
        o.set(INT, 20, 0);
        o.set(INT, 24, type.index);
        o.set(INT, 28, 0);
        connection.callPlain(Commands.GET_IRQ_INFO, INFO_BYTES);
        MemorySegment in = connection.in();
        int flags = in.get(INT, connection.payload() + 4L);
        return new IrqInfo(type, in.get(INT, connection.payload() + 12L), (flags & 2) != 0, (flags & 4) != 0);
    }

    /** Enables the first {@code count} interrupts of a type. */
    public void enable(Type type, int count) throws IOException {
        for (int start = 0; start < count; start += fdsPerMessage) {
            int n = Math.min(fdsPerMessage, count - start);
            int[] fds = new int[n];
            for (int i = 0; i < n; i++) {
                EventFd event = events.get(key(type, start + i));
                if (event == null) {
                    event = EventFd.create();
                    events.put(key(type, start + i), event);
                }
                fds[i] = event.fd().value();
            }
            set(EVENTFD | TRIGGER, type, start, n, fds);
        }
    }

    /** Disables all interrupts of a type and forgets what was signalled. */
    public void disable(Type type) throws IOException {
        set(NONE | TRIGGER, type, 0, 0);
        events.entrySet().removeIf(e -> {
            if (e.getKey() >>> 16 != type.index) {
                return false;
            }
            e.getValue().close();
            return true;
        });
    }

    /** Stops the device from signalling an interrupt. */
    public void mask(Type type, int index) throws IOException {
        set(NONE | MASK, type, index, 1);
    }

    /** Lets the device signal again; what became pending is signalled now. */
    public void unmask(Type type, int index) throws IOException {
        set(NONE | UNMASK, type, index, 1);
    }

    /** Has the server signal an interrupt as if the device had raised it. */
    public void trigger(Type type, int index) throws IOException {
        set(NONE | TRIGGER, type, index, 1);
    }

    /**
     * Takes what was signalled since the last look. Any thread may call, one at a time.
     *
     * @return number of signals, 0 when there were none
     */
    public long take(Type type, int index) throws IOException {
        return event(type, index).read();
    }

    /**
     * Waits for an interrupt and takes it. Any thread may call, one at a time.
     *
     * @return number of signals, 0 when none came in time
     */
    public long await(Type type, int index, int timeoutMillis) throws IOException {
        EventFd event = event(type, index);
        return event.await(timeoutMillis) ? event.read() : 0;
    }

    /** The event descriptor of an interrupt that is enabled. */
    public EventFd event(Type type, int index) {
        EventFd event = events.get(key(type, index));
        if (event == null) {
            throw new IllegalArgumentException(type + " " + index + " is not enabled");
        }
        return event;
    }

    private void set(int flags, Type type, int start, int count, int... fds) throws IOException {
        MemorySegment o = connection.out(SET_BYTES);
        o.set(INT, 16, SET_BYTES);
        o.set(INT, 20, flags);
        o.set(INT, 24, type.index);
        o.set(INT, 28, start);
        o.set(INT, 32, count);
        connection.call(Commands.SET_IRQS, SET_BYTES, fds);
    }

    private static int key(Type type, int index) {
        return type.index << 16 | index;
    }

    @Override
    public void close() {
        events.values().forEach(EventFd::close);
        events.clear();
    }
}
