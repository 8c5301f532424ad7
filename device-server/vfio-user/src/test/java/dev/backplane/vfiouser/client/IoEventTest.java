// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.counter.Counter;
import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.protocol.DeviceState;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Register writes and unmaskings by event descriptors. */
@Timeout(60)
final class IoEventTest {
    private final Arena arena = Arena.ofConfined();
    private ScratchSystem system;
    private VfioUserClient client;

    @BeforeEach
    void start() throws IOException {
        system = new ScratchSystem();
        client = VfioUserClient.connect(system.socket());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        system.close();
        arena.close();
    }

    private ClientIoEvent at(long offset) throws IOException {
        ClientIoEvent found = null;
        for (ClientIoEvent e : client.ioEvents(ScratchDevice.REGISTERS, arena)) {
            if (e.offset() == offset) {
                found = e;
            } else {
                e.close();
            }
        }
        return found;
    }

    private long counter(String name) {
        return system.server().counters().stream()
                .flatMap(g -> g.all().stream())
                .filter(c -> c.name().equals(name))
                .mapToLong(Counter::get)
                .sum();
    }

    @Test
    void whatTheDeviceDeclaredIsToldInItsOrder() throws IOException {
        List<ClientIoEvent> events = client.ioEvents(ScratchDevice.REGISTERS, arena);
        assertEquals(
                List.of(0x800L, 0x808L, 0x810L, 0x818L),
                events.stream().map(ClientIoEvent::offset).toList());
        assertEquals(
                List.of(4, 4, 4, 8), events.stream().map(ClientIoEvent::width).toList());
        assertEquals(
                List.of(false, true, true, true),
                events.stream().map(ClientIoEvent::keepsValue).toList());
        assertEquals(OptionalLong.of(ScratchDevice.MATCHED), events.get(1).match());
        events.forEach(ClientIoEvent::close);
        assertTrue(client.ioEvents(ScratchDevice.MEMORY, arena).isEmpty());
    }

    @Test
    void aSignalIsARegisterWriteBeforeTheNextMessage() throws IOException {
        try (ClientIoEvent doorbell = at(ScratchDevice.DOORBELL);
                ClientIoEvent matching = at(ScratchDevice.MATCHING)) {
            for (int i = 0; i < 100; i++) {
                client.writeInt(ScratchDevice.REGISTERS, ScratchDevice.DOORBELL, -1);
                client.writeInt(ScratchDevice.REGISTERS, ScratchDevice.MATCHING, -1);
                assertTrue(doorbell.write(77));
                assertTrue(matching.write(ScratchDevice.MATCHED));
                assertEquals(0, client.readInt(ScratchDevice.REGISTERS, ScratchDevice.DOORBELL), "the value is lost");
                assertEquals(ScratchDevice.MATCHED, client.readInt(ScratchDevice.REGISTERS, ScratchDevice.MATCHING));
            }
            assertThrows(IllegalArgumentException.class, () -> matching.write(1));
        }
        assertEquals(200, counter("io_events"));
    }

    @Test
    void aShadowBringsTheValue() throws IOException {
        try (ClientIoEvent narrow = at(ScratchDevice.SHADOWED);
                ClientIoEvent wide = at(ScratchDevice.SHADOWED_LONG)) {
            for (int i = 1; i < 100; i++) {
                long value = 0x1234_5678_9abc_def1L * i;
                assertTrue(narrow.write(value));
                assertTrue(wide.write(~value));
                assertEquals((int) value, client.readInt(ScratchDevice.REGISTERS, ScratchDevice.SHADOWED));
                assertEquals(~value, client.read(ScratchDevice.REGISTERS, ScratchDevice.SHADOWED_LONG, 8));
                assertEquals(0, client.readInt(ScratchDevice.REGISTERS, ScratchDevice.SHADOWED + 4), "4 bytes, not 8");
            }
        }
    }

    @Test
    void aStoppedDeviceGetsNone() throws IOException {
        try (ClientIoEvent matching = at(ScratchDevice.MATCHING)) {
            client.migration().state(DeviceState.STOP);
            assertTrue(matching.write(ScratchDevice.MATCHED));
            assertEquals(0x1b36, client.read(VfioUserClient.CONFIG, 0, 2));
            client.migration().state(DeviceState.RUNNING);
            assertEquals(0, client.readInt(ScratchDevice.REGISTERS, ScratchDevice.MATCHING));
            assertEquals(1, counter("io_events_dropped"));
        }
    }

    @Test
    void nothingIsLeftWhenTheClientHasGone() throws Exception {
        int before = Fds.count();
        for (int i = 0; i < 20; i++) {
            client.close();
            client = VfioUserClient.connect(system.socket());
            List<ClientIoEvent> events = client.ioEvents(ScratchDevice.REGISTERS, arena);
            events.forEach(e -> e.write(e.match().orElse(1)));
            client.interrupts().enable(IrqType.INTX, 1);
            try (EventFd unmask = EventFd.create()) {
                client.interrupts().unmaskBy(IrqType.INTX, 0, unmask);
                unmask.signal();
            }
            events.forEach(ClientIoEvent::close);
        }
        client.close();
        client = VfioUserClient.connect(system.socket());
        assertTrue(Fds.awaitCount(before) <= before, "open descriptors: " + before + " before, " + Fds.count());
    }

    @Test
    void anUnmaskDescriptorUnmasksThePin() throws IOException {
        var interrupts = system.link().orElseThrow().interrupts();
        client.interrupts().enable(IrqType.INTX, 1);
        try (EventFd unmask = EventFd.create();
                EventFd other = EventFd.create()) {
            client.interrupts().unmaskBy(IrqType.INTX, 0, unmask);
            interrupts.pin(true);
            assertEquals(1, client.interrupts().await(IrqType.INTX, 0, 10_000));
            interrupts.pin(true);
            assertEquals(0, client.interrupts().take(IrqType.INTX, 0), "masked by its own signal");
            assertTrue(unmask.signal());
            assertEquals(1, client.interrupts().await(IrqType.INTX, 0, 10_000), "unmasked, and still asserted");
            client.interrupts().unmaskBy(IrqType.INTX, 0, other);
            assertTrue(unmask.signal());
            client.readInt(ScratchDevice.REGISTERS, 0);
            assertEquals(0, client.interrupts().take(IrqType.INTX, 0), "the first descriptor has been replaced");
            assertTrue(other.signal());
            assertEquals(1, client.interrupts().await(IrqType.INTX, 0, 10_000));
            client.interrupts().unmaskBy(IrqType.INTX, 0, null);
            assertTrue(other.signal());
            client.readInt(ScratchDevice.REGISTERS, 0);
            assertEquals(0, client.interrupts().take(IrqType.INTX, 0), "taken away");
        }
        assertEquals(2, counter("unmask_events"));
    }

    @Test
    void onlyThePinIsUnmaskedByDescriptor() throws IOException {
        try (EventFd e = EventFd.create()) {
            assertThrows(ServerErrorException.class, () -> client.interrupts().unmaskBy(IrqType.MSIX, 0, e));
        }
    }

    @Test
    void badDeclarationsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> IoEvent.doorbell(0, 2, 4));
        assertThrows(IllegalArgumentException.class, () -> IoEvent.doorbell(0, 0, 3));
        assertThrows(IllegalArgumentException.class, () -> IoEvent.doorbell(0, -4, 4));
        assertFalse(IoEvent.doorbell(0, 8, 8).shadow());
    }
}
