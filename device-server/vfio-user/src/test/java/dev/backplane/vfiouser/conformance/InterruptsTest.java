// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backplane.vfiouser.interrupt.Interrupts;
import dev.backplane.vfiouser.pci.PciFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Interrupts as a device raises them: MSI-X with masks and pending bits, the INTx pin as a level. */
final class InterruptsTest extends ConformanceTest {
    private static final int SET = Wire.IRQ_EVENTFD | Wire.IRQ_TRIGGER;
    private static final int UNMASK = Wire.IRQ_NONE | Wire.IRQ_UNMASK;
    private static final int MASK = Wire.IRQ_NONE | Wire.IRQ_MASK;
    private static final int BUS_MASTER = 6;
    private static final int INTX_DISABLE = 0x400;

    private RawPeer p;
    private Interrupts interrupts;

    @BeforeEach
    void interrupts() {
        p = peer();
        command(BUS_MASTER);
        assumeTrue(system.link().isPresent(), "the test cannot raise interrupts itself");
        interrupts = system.link().orElseThrow().interrupts();
    }

    @Test
    void aVectorSignalsItsOwnDescriptor() {
        int e0 = eventfd();
        int e1 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 2), e0, e1);
        assertTrue(interrupts.messageSignalled());
        interrupts.signal(1);
        assertEquals(1, Fds.await(e1));
        assertEquals(0, Fds.take(e0));
        interrupts.signal(0);
        interrupts.signal(0);
        assertTrue(Fds.await(e0) >= 1);
    }

    @Test
    void vectorsThatAreNotThereAreDropped() {
        int e0 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        interrupts.signal(1);
        interrupts.signal(-1);
        interrupts.signal(Integer.MAX_VALUE);
        interrupts.signal(system.function().msix().vectors());
        assertEquals(0, Fds.take(e0));
    }

    @Test
    void nothingIsSignalledWithoutBusMaster() {
        int e0 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        command(0);
        interrupts.signal(0);
        p.nothingPending();
        assertEquals(0, Fds.take(e0));
    }

    @Test
    void nothingIsSignalledAfterTheClientHasGone() throws InterruptedException {
        int e0 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        p.close();
        eventually("the device is detached", () -> system.link().isEmpty());
        interrupts.signal(0);
        interrupts.pin(true);
        assertEquals(0, Fds.take(e0));
    }

    @Test
    void aMaskedVectorBecomesPendingAndFiresWhenUnmasked() {
        PciFunction.Msix msix = system.function().msix();
        assumeTrue(msix != null);
        int e0 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        p.ok(Message.setIrqs(MASK, Wire.MSIX, 0, 1));
        interrupts.signal(0);
        assertEquals(0, Fds.take(e0), "a masked vector");
        assertEquals(1, pending() & 1, "its pending bit");
        p.ok(Message.setIrqs(UNMASK, Wire.MSIX, 0, 1));
        assertEquals(1, Fds.await(e0));
        assertEquals(0, pending() & 1, "its pending bit");
    }

    @Test
    void aVectorWithoutDescriptorThatQemuMasksBecomesPendingOrIsDropped() {
        int e0 = eventfd();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1)); // QEMU's way to mask: the slot is emptied
        interrupts.signal(0);
        assertEquals(0, Fds.take(e0));
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        interrupts.signal(0);
        assertTrue(Fds.await(e0) >= 1);
    }

    @Test
    void aResetDropsTheDescriptors() {
        int e0 = eventfd();
        int held = Fds.count();
        p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), e0);
        p.ok(Message.reset());
        command(BUS_MASTER);
        interrupts.signal(0);
        p.nothingPending();
        // whether descriptors survive a reset is the implementation's choice; a signal from before must not
        assertTrue(Fds.count() <= held + 1);
    }

    @Test
    void thePinIsALevel() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.INTX, 0, 1), e);
        interrupts.pin(true);
        assertEquals(1, Fds.await(e), "asserted");
        interrupts.pin(true);
        p.nothingPending();
        assertEquals(0, Fds.take(e), "still asserted: masked until the guest has looked");
        p.ok(Message.setIrqs(UNMASK, Wire.INTX, 0, 1));
        assertEquals(1, Fds.await(e), "unmasked and still asserted: again");
        interrupts.pin(false);
        p.ok(Message.setIrqs(UNMASK, Wire.INTX, 0, 1));
        assertEquals(0, Fds.take(e), "deasserted");
        interrupts.pin(true);
        assertEquals(1, Fds.await(e), "asserted again");
    }

    @Test
    void aMaskedPinWaits() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.INTX, 0, 1), e);
        p.ok(Message.setIrqs(MASK, Wire.INTX, 0, 1));
        interrupts.pin(true);
        assertEquals(0, Fds.take(e));
        p.ok(Message.setIrqs(UNMASK, Wire.INTX, 0, 1));
        assertEquals(1, Fds.await(e));
    }

    @Test
    void theStatusRegisterShowsThePin() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.INTX, 0, 1), e);
        assertEquals(0, status() & 8);
        interrupts.pin(true);
        assertEquals(8, status() & 8, "Interrupt Status");
        interrupts.pin(false);
        assertEquals(0, status() & 8);
    }

    @Test
    void interruptDisableSilencesThePin() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int e = eventfd();
        p.ok(Message.setIrqs(SET, Wire.INTX, 0, 1), e);
        command(BUS_MASTER | INTX_DISABLE);
        interrupts.pin(true);
        p.nothingPending();
        assertEquals(0, Fds.take(e));
        command(BUS_MASTER);
        assertEquals(1, Fds.await(e), "enabled while asserted");
    }

    @Test
    void anUnmaskDescriptorIsAcceptedOrCleanlyRefused() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int before = Fds.count();
        int e = eventfd();
        Received r = p.call(Message.setIrqs(Wire.IRQ_EVENTFD | Wire.IRQ_UNMASK, Wire.INTX, 0, 1), e);
        if (r.flags() != Wire.REPLY) {
            assertEquals(Wire.REPLY | Wire.ERROR, r.flags());
            assertEquals(before + 1, Fds.count(), "open descriptors");
        }
        p.nothingPending();
    }

    @Test
    void typesCanBeChangedThereAndBack() {
        assumeTrue(system.function().pin(), "the device has no pin");
        int pin = eventfd();
        int vector = eventfd();
        for (int i = 0; i < 3; i++) {
            p.ok(Message.setIrqs(SET, Wire.INTX, 0, 1), pin);
            p.ok(Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.INTX, 0, 0));
            p.ok(Message.setIrqs(SET, Wire.MSIX, 0, 1), vector);
            interrupts.signal(0);
            assertEquals(1, Fds.await(vector));
            assertEquals(0, Fds.take(pin));
            p.ok(Message.setIrqs(Wire.IRQ_NONE | Wire.IRQ_TRIGGER, Wire.MSIX, 0, 0));
            assertTrue(!interrupts.messageSignalled());
        }
    }

    private void command(int value) {
        p.ok(Message.command(Wire.REGION_WRITE)
                .u64(4)
                .u32(Wire.CONFIG_REGION)
                .u32(2)
                .u16(value));
    }

    private int status() {
        return p.ok(Message.read(Wire.CONFIG_REGION, 6, 2)).u16(16);
    }

    private long pending() {
        PciFunction.Msix msix = system.function().msix();
        return p.ok(Message.read(msix.bar(), msix.pbaOffset(), 8)).u64(16);
    }
}
