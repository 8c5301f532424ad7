// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.IrqMessages;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** The device's interrupts: event descriptors that the device signals, and their masks. */
public final class ClientInterrupts implements AutoCloseable {
    /**
     * What DEVICE_GET_IRQ_INFO tells.
     *
     * @param count number of interrupts of the type
     * @param maskable whether it can be masked by the client
     * @param automasked whether it masks itself after each signal
     */
    public record IrqInfo(IrqType type, int count, boolean maskable, boolean automasked) {}

    private static final int INFO = IrqMessages.INFO.size();
    private static final int SET = IrqMessages.SET.size();

    private final ClientConnection connection;
    private final int fdsPerMessage;
    private final Map<Integer, EventFd> events = new HashMap<>();

    /** @param fdsPerMessage most descriptors that the server takes in one message */
    ClientInterrupts(ClientConnection connection, int fdsPerMessage) {
        this.connection = connection;
        this.fdsPerMessage = Math.max(1, fdsPerMessage);
    }

    /** Asks how many interrupts of a type there are. */
    public IrqInfo info(IrqType type) throws IOException {
        MemorySegment o = connection.begin(INFO);
        o.set(Wire.U32, Header.BYTES + IrqMessages.INFO_ARGSZ, INFO);
        o.set(Wire.U32, Header.BYTES + IrqMessages.INFO_FLAGS, 0);
        o.set(Wire.U32, Header.BYTES + IrqMessages.INFO_INDEX, type.index());
        o.set(Wire.U32, Header.BYTES + IrqMessages.INFO_COUNT, 0);
        MessageReader reply = connection.call(Command.DEVICE_GET_IRQ_INFO, INFO);
        int flags = reply.u32(IrqMessages.INFO_FLAGS);
        return new IrqInfo(
                type,
                reply.u32(IrqMessages.INFO_COUNT),
                (flags & IrqMessages.INFO_MASKABLE) != 0,
                (flags & IrqMessages.INFO_AUTOMASKED) != 0);
    }

    /** Enables the first {@code count} interrupts of a type. */
    public void enable(IrqType type, int count) throws IOException {
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
            set(IrqMessages.DATA_EVENTFD | IrqMessages.ACTION_TRIGGER, type, start, n, fds);
        }
    }

    /** Disables all interrupts of a type and forgets what was signalled. */
    public void disable(IrqType type) throws IOException {
        set(IrqMessages.DATA_NONE | IrqMessages.ACTION_TRIGGER, type, 0, 0);
        events.entrySet().removeIf(e -> {
            if (e.getKey() >>> 16 != type.index()) {
                return false;
            }
            e.getValue().close();
            return true;
        });
    }

    /** Stops the device from signalling an interrupt. */
    public void mask(IrqType type, int index) throws IOException {
        set(IrqMessages.DATA_NONE | IrqMessages.ACTION_MASK, type, index, 1);
    }

    /** Lets the device signal again; what became pending is signalled now. */
    public void unmask(IrqType type, int index) throws IOException {
        set(IrqMessages.DATA_NONE | IrqMessages.ACTION_UNMASK, type, index, 1);
    }

    /**
     * Has the device unmask an interrupt whenever {@code event} is signalled, without a message.
     *
     * @param event stays the caller's; null for never any more
     */
    public void unmaskBy(IrqType type, int index, EventFd event) throws IOException {
        int[] fds = event == null ? new int[0] : new int[] {event.fd().value()};
        set(IrqMessages.DATA_EVENTFD | IrqMessages.ACTION_UNMASK, type, index, 1, fds);
    }

    /** Has the server signal an interrupt as if the device had raised it. */
    public void trigger(IrqType type, int index) throws IOException {
        set(IrqMessages.DATA_NONE | IrqMessages.ACTION_TRIGGER, type, index, 1);
    }

    /**
     * Takes what was signalled since the last look. Any thread may call, one at a time.
     *
     * @return number of signals, 0 when there were none
     */
    public long take(IrqType type, int index) throws IOException {
        return event(type, index).read();
    }

    /**
     * Waits for an interrupt and takes it. Any thread may call, one at a time.
     *
     * @return number of signals, 0 when none came in time
     */
    public long await(IrqType type, int index, int timeoutMillis) throws IOException {
        EventFd event = event(type, index);
        return event.await(timeoutMillis) ? event.read() : 0;
    }

    /** The event descriptor of an interrupt that is enabled. */
    public EventFd event(IrqType type, int index) {
        EventFd event = events.get(key(type, index));
        if (event == null) {
            throw new IllegalArgumentException(type + " " + index + " is not enabled");
        }
        return event;
    }

    private void set(int flags, IrqType type, int start, int count, int... fds) throws IOException {
        MemorySegment o = connection.begin(SET);
        o.set(Wire.U32, Header.BYTES + IrqMessages.SET_ARGSZ, SET);
        o.set(Wire.U32, Header.BYTES + IrqMessages.SET_FLAGS, flags);
        o.set(Wire.U32, Header.BYTES + IrqMessages.SET_INDEX, type.index());
        o.set(Wire.U32, Header.BYTES + IrqMessages.SET_START, start);
        o.set(Wire.U32, Header.BYTES + IrqMessages.SET_COUNT, count);
        connection.call(Command.DEVICE_SET_IRQS, SET, fds);
    }

    private static int key(IrqType type, int index) {
        return type.index() << 16 | index;
    }

    @Override
    public void close() {
        events.values().forEach(EventFd::close);
        events.clear();
    }
}
