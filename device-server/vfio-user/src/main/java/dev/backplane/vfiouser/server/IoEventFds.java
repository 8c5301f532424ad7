// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.pci.Bar;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The ioeventfds of one region for one client, made when it first asks for them: an event descriptor for each register, and
 * one file for the values of those that have a shadow. Confined to the connection's thread.
 */
final class IoEventFds implements AutoCloseable {
    /** Most registers of a region that a client is told of, whatever it can take. */
    static final int MOST = 64;

    /** Distance of two values in the shadow file. */
    private static final int STRIDE = 8;

    private static final ValueLayout.OfLong VALUE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final List<IoEvent> events;
    private final List<EventFd> fds = new ArrayList<>();
    private FileDescriptor file;
    private Arena arena;
    private MemorySegment shadow;

    private IoEventFds(List<IoEvent> events) {
        this.events = events;
    }

    /**
     * Makes them.
     *
     * @param declared the registers of the region
     * @param maxFds most descriptors that the client takes: the registers that do not fit are left out
     */
    static IoEventFds create(List<IoEvent> declared, int maxFds) throws NativeException {
        int most = Math.min(declared.size(), Math.min(maxFds, MOST));
        boolean shadows = declared.subList(0, most).stream().anyMatch(IoEvent::shadow);
        if (shadows && most == maxFds) {
            most--;
        }
        IoEventFds made = new IoEventFds(List.copyOf(declared.subList(0, most)));
        try {
            for (int i = 0; i < most; i++) {
                made.fds.add(EventFd.create());
            }
            if (made.events.stream().anyMatch(IoEvent::shadow)) {
                made.file = MemoryFile.create("vfio-user ioeventfd values", Bar.PAGE);
                made.arena = Arena.ofConfined();
                made.shadow = MemoryFile.map(made.file.value(), 0, Bar.PAGE, true, made.arena);
            }
            return made;
        } catch (NativeException e) {
            made.close();
            throw e;
        }
    }

    /** The registers that the client is told of. */
    List<IoEvent> events() {
        return events;
    }

    /** The event descriptor of the {@code i}-th of them. */
    EventFd fd(int i) {
        return fds.get(i);
    }

    /** The file of the values, or null. */
    FileDescriptor file() {
        return file;
    }

    /** Where in the file the {@code i}-th register's value is. */
    static long fileOffset(int i) {
        return (long) i * STRIDE;
    }

    /** The value that a signal of the {@code i}-th register stands for. */
    long value(int i) {
        IoEvent e = events.get(i);
        if (!e.shadow()) {
            return e.match().orElse(0);
        }
        long value = (long) VALUE.varHandle().getAcquire(shadow, fileOffset(i));
        return e.width() == 8 ? value : value & ((1L << (8 * e.width())) - 1);
    }

    @Override
    public void close() {
        fds.forEach(EventFd::close);
        if (arena != null) {
            arena.close();
        }
        if (file != null) {
            file.close();
        }
    }
}
