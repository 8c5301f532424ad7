// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.Timers;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.memory.GuestRange;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Events towards the driver: a count for each context in the driver's event table, then an interrupt of the context's
 * vector. The count of a context is written by its loop alone, so it has one writer.
 *
 * <p>The race: the module stores the count and then interrupts; a reader in the driver queues itself, full fence, and
 * then loads the count (bp_imm_event.c). Either the reader sees the count, or the handler sees the reader.
 *
 * <p>Interrupts of one vector keep a distance: one that comes too soon after another is put off to the end of that
 * distance, and those that come until then need none of their own.
 */
final class EventTable {
    private final MessagingModule module;
    private final long distance;
    private final Vector[] vectors = new Vector[ImmRegisters.CONTEXT_VECTORS];
    private final Timers timers;
    private final Object pinLock = new Object();

    EventTable(MessagingModule module) {
        this.module = module;
        this.timers = module.fabric().timers();
        this.distance = module.fabric().config().moderationMicros() * 1000L;
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = new Vector(1 + i);
        }
    }

    /** One MSI-X vector, shared by contexts. */
    private final class Vector {
        private final int number;
        private final AtomicBoolean due = new AtomicBoolean();
        private volatile long latest = Long.MIN_VALUE / 2;
        private Timers.Timer timer;

        Vector(int number) {
            this.number = number;
        }

        void interrupt(DeviceLink link) {
            long now = timers.now();
            if (now - latest >= distance) {
                latest = now;
                signal(link);
            } else if (due.compareAndSet(false, true)) {
                timer().arm(latest + distance);
            } else {
                module.tally().interruptsCoalesced.increment();
            }
        }

        private void signal(DeviceLink link) {
            module.tally().interrupts.increment();
            link.interrupts().signal(number);
        }

        private synchronized Timers.Timer timer() {
            if (timer == null) {
                timer = timers.timer(this::late);
            }
            return timer;
        }

        /**
         * On the thread of the timers. An event that finds {@code due} set has stored its count before, and {@code due}
         * is cleared before the interrupt: so the interrupt comes after the count.
         */
        private void late() {
            DeviceLink link = module.link();
            if (link == null) {
                return;
            }
            int use = link.memory().enter();
            try {
                if (module.live() && due.compareAndSet(true, false)) {
                    latest = timers.now();
                    signal(link);
                }
            } finally {
                link.memory().exit(use);
            }
        }

        void reset() {
            due.set(false);
            latest = Long.MIN_VALUE / 2;
        }
    }

    /**
     * Counts events of a context and tells the driver; by the context's loop, inside a use of the guest's memory.
     *
     * @param word the context's word of the table
     * @return false if that was interrupted and has to be repeated
     */
    boolean raise(DeviceLink link, int context, GuestRange word, int total, int added) {
        try {
            word.refresh();
            word.setIntRelease(0, total);
        } catch (GuestMemoryFault f) {
            if (f.reason() == GuestMemoryFault.Reason.INTERRUPTED) {
                return false;
            }
            module.memoryFault(f);
            return true;
        }
        module.tally().events.add(added);
        if (link.interrupts().messageSignalled()) {
            vectors[context % ImmRegisters.CONTEXT_VECTORS].interrupt(link);
        } else {
            raisePin(link, ImmRegisters.EVENT_CONTEXT);
        }
        return true;
    }

    /** Tells the driver of an event of the module as a whole. */
    void raiseModule(DeviceLink link, int event) {
        module.block().setBits(ModuleBlock.EVENT_STATUS, event);
        if (link.interrupts().messageSignalled()) {
            module.tally().interrupts.increment();
            link.interrupts().signal(0);
        } else {
            raisePin(link, event);
        }
    }

    private void raisePin(DeviceLink link, int event) {
        // The pin is a level: its setting and what it is made of must not be torn apart. Not a path for speed.
        synchronized (pinLock) {
            module.block().setBits(ModuleBlock.EVENT_STATUS, event);
            module.tally().interrupts.increment();
            link.interrupts().pin(true);
        }
    }

    /** The driver clears bits of the register event_status. */
    void clear(DeviceLink link, int bits) {
        synchronized (pinLock) {
            module.block().clearBits(ModuleBlock.EVENT_STATUS, bits);
            if (module.block().getInt(ModuleBlock.EVENT_STATUS) == 0) {
                link.interrupts().pin(false);
            }
        }
    }

    /** Forgets interrupts that are due; once the uses of the guest's memory have ended. */
    void reset(DeviceLink link) {
        for (Vector v : vectors) {
            v.reset();
        }
        synchronized (pinLock) {
            link.interrupts().pin(false);
        }
    }
}
