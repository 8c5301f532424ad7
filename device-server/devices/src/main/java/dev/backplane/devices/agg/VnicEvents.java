// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.interrupt.Interrupts;

/** Events and interrupts of one vNIC: MSI-X, or the INTx pin as long as the guest has not enabled MSI-X. Any thread. */
final class VnicEvents {
    private final VnicDevice device;

    VnicEvents(VnicDevice device) {
        this.device = device;
    }

    /** Signals a queue's vector; without MSI-X, that some queue wants service. */
    void signal(int vector) {
        DeviceLink link = device.link();
        if (link == null || !link.busMaster()) {
            return;
        }
        Interrupts interrupts = link.interrupts();
        if (!interrupts.messageSignalled()) {
            raise(AggRegisters.EVENT_QUEUE);
        } else if (vector != AggRegisters.NO_VECTOR) {
            device.count().interrupts.increment();
            interrupts.signal(vector);
        }
    }

    /** Notes an event and tells the driver. */
    void raise(int event) {
        int before = device.state().getAndOr(AggRegisters.EVENT_STATUS, event);
        DeviceLink link = device.link();
        if (link == null || !link.busMaster()) {
            return;
        }
        if (!link.interrupts().messageSignalled()) {
            if ((before & event) == 0) {
                device.count().interrupts.increment();
            }
            updatePin(link.interrupts());
            return;
        }
        int vector = device.state().getInt(AggRegisters.EVENT_VECTOR);
        if (vector != AggRegisters.NO_VECTOR) {
            device.count().interrupts.increment();
            link.interrupts().signal(vector);
        }
    }

    /** The driver has seen these events. Only the client's thread. */
    void clear(int events) {
        device.state().getAndAnd(AggRegisters.EVENT_STATUS, ~events);
        DeviceLink link = device.link();
        if (link != null) {
            updatePin(link.interrupts());
        }
    }

    /** The device goes on after it was stopped, or restored: the pin shows what its events say. */
    void resume(DeviceLink link) {
        updatePin(link.interrupts());
    }

    /**
     * Brings the pin to what the events say. One thread may set an event while another clears one: both look again
     * after they have set the pin, so whoever sets it last sets it to what is true.
     */
    private void updatePin(Interrupts interrupts) {
        int events;
        do {
            events = device.state().getInt(AggRegisters.EVENT_STATUS);
            interrupts.pin(events != 0 && !interrupts.messageSignalled());
        } while (events != device.state().getInt(AggRegisters.EVENT_STATUS));
    }
}
