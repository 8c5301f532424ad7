// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.interrupt.InterruptController.Kind;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.natives.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InterruptControllerTest {
    private static final int VECTORS = 70;

    private final InterruptController interrupts = new InterruptController(VECTORS, true);
    private final List<EventFd> clients = new ArrayList<>();

    @BeforeEach
    void enable() {
        interrupts.control(true, false, false);
    }

    @AfterEach
    void close() {
        interrupts.disconnect();
        clients.forEach(EventFd::close);
    }

    /** Wires a vector; returns the client's end. */
    private EventFd wire(Kind kind, int vector) throws NativeException {
        EventFd client = EventFd.create();
        clients.add(client);
        interrupts.wire(kind, vector, new EventFd[] {EventFd.of(client.fd().duplicate())});
        return client;
    }

    private long count(String counter) {
        return interrupts.counters().get(counter);
    }

    @Test
    void everyKindHasItsOwnDescriptors() throws NativeException {
        EventFd intx = wire(Kind.INTX, 0);
        EventFd msix = wire(Kind.MSIX, 0);
        EventFd error = wire(Kind.ERROR, 0);
        EventFd request = wire(Kind.REQUEST, 0);
        interrupts.signal(0);
        assertEquals(1, msix.read());
        interrupts.pin(true);
        assertEquals(1, intx.read());
        interrupts.trigger(Kind.ERROR, 0);
        assertEquals(1, error.read());
        interrupts.trigger(Kind.REQUEST, 0);
        assertEquals(1, request.read());
        interrupts.unwire(Kind.MSIX);
        interrupts.pin(false);
        interrupts.unmask(Kind.INTX, 0);
        interrupts.pin(true);
        assertEquals(1, intx.read());
        assertEquals(0, msix.read() + error.read() + request.read());
    }

    @Test
    void whatNobodyCanReceiveIsCounted() throws NativeException {
        interrupts.signal(3);
        interrupts.signal(-1);
        interrupts.signal(VECTORS);
        interrupts.signal(Integer.MIN_VALUE);
        assertEquals(4, count("interrupts_dropped"));
        EventFd client = wire(Kind.MSIX, 3);
        interrupts.control(false, false, false);
        interrupts.signal(3);
        assertEquals(5, count("interrupts_dropped"));
        assertEquals(0, client.read());
    }

    @Test
    void messageSignalledWhileAnyVectorIsWired() throws NativeException {
        assertFalse(interrupts.messageSignalled());
        wire(Kind.MSIX, 5);
        wire(Kind.MSIX, 6);
        wire(Kind.MSIX, 5);
        assertTrue(interrupts.messageSignalled());
        interrupts.wire(Kind.MSIX, 5, new EventFd[1]);
        assertTrue(interrupts.messageSignalled());
        interrupts.wire(Kind.MSIX, 6, new EventFd[1]);
        assertFalse(interrupts.messageSignalled());
        interrupts.unwire(Kind.MSIX);
        assertFalse(interrupts.messageSignalled());
    }

    @Test
    void maskedVectorIsPendingAndSignalledOnceUnmasked() throws NativeException {
        EventFd client = wire(Kind.MSIX, 66);
        for (Runnable[] masks : new Runnable[][] {
            {() -> interrupts.tableMask(66, true), () -> interrupts.tableMask(66, false)},
            {() -> interrupts.mask(Kind.MSIX, 66), () -> interrupts.unmask(Kind.MSIX, 66)},
            {() -> interrupts.control(true, true, false), () -> interrupts.control(true, false, false)},
        }) {
            masks[0].run();
            assertEquals(0, interrupts.pending(1));
            interrupts.signal(66);
            interrupts.signal(66);
            assertEquals(0, client.read());
            assertEquals(1L << 2, interrupts.pending(1));
            assertEquals(0, interrupts.pending(0));
            masks[1].run();
            assertEquals(1, client.read());
            assertEquals(0, interrupts.pending(1));
        }
    }

    @Test
    void everyMaskHasToGo() throws NativeException {
        EventFd client = wire(Kind.MSIX, 0);
        interrupts.tableMask(0, true);
        interrupts.mask(Kind.MSIX, 0);
        interrupts.control(true, true, false);
        interrupts.signal(0);
        interrupts.control(true, false, false);
        interrupts.tableMask(0, false);
        assertEquals(0, client.read());
        interrupts.unmask(Kind.MSIX, 0);
        assertEquals(1, client.read());
    }

    /** The client's TRIGGER is for testing the wiring: neither masks nor bus mastering hold it up. */
    @Test
    void triggerGoesThrough() throws NativeException {
        EventFd client = wire(Kind.MSIX, 0);
        interrupts.control(false, true, true);
        interrupts.trigger(Kind.MSIX, 0);
        assertEquals(1, client.read());
    }

    @Test
    void pinIsLevelTriggeredAndAutoMasked() throws NativeException {
        EventFd client = wire(Kind.INTX, 0);
        interrupts.pin(true);
        interrupts.pin(true);
        assertEquals(1, client.read());
        interrupts.unmask(Kind.INTX, 0);
        assertEquals(1, client.read(), "still asserted");
        interrupts.pin(false);
        interrupts.unmask(Kind.INTX, 0);
        assertEquals(0, client.read());
        interrupts.mask(Kind.INTX, 0);
        interrupts.pin(true);
        assertEquals(0, client.read());
        interrupts.unmask(Kind.INTX, 0);
        assertEquals(1, client.read());
    }

    @Test
    void disabledPinIsSignalledWhenEnabled() throws NativeException {
        EventFd client = wire(Kind.INTX, 0);
        interrupts.control(true, false, true);
        interrupts.pin(true);
        assertTrue(interrupts.pinAsserted());
        assertEquals(0, client.read());
        interrupts.control(true, false, false);
        assertEquals(1, client.read());
    }

    @Test
    void assertedPinIsSignalledOnANewDescriptor() throws NativeException {
        interrupts.pin(true);
        assertEquals(1, wire(Kind.INTX, 0).read());
        assertEquals(1, wire(Kind.INTX, 0).read());
    }

    @Test
    void errorAndRequestCannotBeMasked() {
        assertThrows(IllegalArgumentException.class, () -> interrupts.mask(Kind.ERROR, 0));
        assertThrows(IllegalArgumentException.class, () -> interrupts.unmask(Kind.REQUEST, 0));
    }

    @Test
    void resetForgetsAllButTheWiring() throws NativeException {
        EventFd client = wire(Kind.MSIX, 1);
        EventFd intx = wire(Kind.INTX, 0);
        interrupts.tableMask(1, true);
        interrupts.mask(Kind.MSIX, 1);
        interrupts.control(true, true, true);
        interrupts.signal(1);
        interrupts.pin(true);
        interrupts.reset();
        interrupts.control(true, false, false);
        assertEquals(0, interrupts.pending(0));
        assertFalse(interrupts.pinAsserted());
        assertEquals(0, client.read() + intx.read());
        interrupts.signal(1);
        assertEquals(1, client.read());
        interrupts.pin(true);
        assertEquals(1, intx.read());
    }

    @Test
    void savedStateComesBackAndSignalsWhatWasPending() throws NativeException {
        wire(Kind.MSIX, 0);
        interrupts.mask(Kind.MSIX, 0);
        interrupts.signal(0);
        interrupts.tableMask(7, true);
        interrupts.signal(7);
        interrupts.pin(true);
        MemorySegment saved = MemorySegment.ofArray(new byte[interrupts.stateBytes() + 3]);
        interrupts.save(saved, 3);

        InterruptController other = new InterruptController(VECTORS, true);
        EventFd[] client = {EventFd.create(), EventFd.create(), EventFd.create()};
        other.wire(Kind.MSIX, 0, new EventFd[] {EventFd.of(client[0].fd().duplicate())});
        other.wire(Kind.MSIX, 7, new EventFd[] {EventFd.of(client[1].fd().duplicate())});
        other.wire(Kind.INTX, 0, new EventFd[] {EventFd.of(client[2].fd().duplicate())});
        other.restore(saved, 3);
        other.control(true, false, false);
        other.resume();
        assertEquals(1, client[0].read(), "pending, and the mask was the former client's");
        assertEquals(0, client[1].read(), "masked in the table");
        assertEquals(1L << 7, other.pending(0));
        assertEquals(1, client[2].read());
        other.disconnect();
        for (EventFd e : client) {
            e.close();
        }
    }

    /** Signals against masking and unmasking: none may get lost, as each is either delivered or left pending. */
    @Test
    void signalsAreNotLostInTheRaceWithMasks() throws Exception {
        EventFd client = wire(Kind.MSIX, 0);
        for (int round = 0; round < 1_000; round++) {
            interrupts.tableMask(0, true);
            Thread device = Thread.ofVirtual().start(() -> interrupts.signal(0));
            interrupts.tableMask(0, false);
            device.join();
            assertEquals(1, client.read(), "round " + round);
            assertEquals(0, interrupts.pending(0));
        }
    }

    /** Signals against rewiring: no descriptor is used after it was closed, so none of another file's number is hit. */
    @Test
    void rewiringUnderSignalsUsesNoClosedDescriptor() throws Exception {
        boolean[] stop = new boolean[1];
        Thread device = new Thread(() -> {
            while (!stop[0]) {
                interrupts.signal(0);
                Thread.onSpinWait();
            }
        });
        EventFd bystander = EventFd.create();
        clients.add(bystander);
        device.start();
        for (int i = 0; i < 300; i++) {
            wire(Kind.MSIX, 0);
            interrupts.unwire(Kind.MSIX);
            clients.removeLast().close();
            // Takes the numbers that were just closed: a late write would count here.
            EventFd other = EventFd.create();
            EventFd another = EventFd.create();
            assertEquals(0, other.read() + another.read(), "round " + i);
            other.close();
            another.close();
        }
        stop[0] = true;
        device.join();
        assertEquals(0, bystander.read());
    }
}
