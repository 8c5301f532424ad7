// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestMemoryFault;

/**
 * One queue's tie to the guest: which ring is active, what the device remembers about it in its state block, its
 * interrupt, and how it stops. The active ring is set by the client's thread; everything else here belongs to the
 * queue's loop, inside a use of the guest's memory, unless a method says otherwise.
 */
final class QueueLink {
    private final VnicDevice device;
    private final int queue;
    private final int registers;
    private final int remembered;
    private final QueueInterrupt interrupt;
    private volatile Ring ring;

    QueueLink(VnicDevice device, int queue) {
        this.device = device;
        this.queue = queue;
        this.registers = VnicState.queue(queue);
        this.remembered = VnicState.remembered(queue);
        this.interrupt = new QueueInterrupt(device, this, queue);
    }

    VnicDevice device() {
        return device;
    }

    /** The guest, or null when there is none any more. Any thread. */
    DeviceLink guest() {
        return device.link();
    }

    /** The active ring, or null. Any thread; constant within a use of the guest's memory once seen in it. */
    Ring ring() {
        return ring;
    }

    /** Activates a ring, or with null ends the activation. Only the client's thread. */
    void activate(Ring next) {
        ring = next;
        if (next == null) {
            interrupt.cancel();
        } else {
            interrupt.resume();
        }
    }

    int next() {
        return device.state().getInt(remembered + VnicState.NEXT);
    }

    void next(int index) {
        device.state().setInt(remembered + VnicState.NEXT, index);
    }

    /** Status with which the rest of a frame is given up, or -1. */
    int discarding() {
        return device.state().getInt(remembered + VnicState.DISCARD) - 1;
    }

    void discarding(int status) {
        device.state().setInt(remembered + VnicState.DISCARD, status + 1);
    }

    /** Publishes the completions from {@code from} to {@code to} and interrupts if the driver wants that. */
    void completed(Ring r, int from, int to, int frames) {
        next(to);
        r.completed(to);
        if (r.wantsInterrupt(from, to)) {
            interrupt.want(frames);
        } else {
            device.count().interruptsSuppressed.increment();
        }
    }

    /** Stops the queue because its own memory cannot be accessed. */
    void stop(GuestMemoryFault fault) {
        stop(QueueStatus.error(fault));
    }

    /** Stops the queue with a code; the driver is told by an event. Nothing happens if it is not running any more. */
    void stop(int code) {
        VnicState state = device.state();
        ring = null;
        if (state.compareAndSet(
                registers + QueueRegisters.STATE, QueueStatus.RUNNING.code(), QueueStatus.STOPPED.code())) {
            state.setInt(registers + QueueRegisters.ERROR, code);
            state.setInt(registers + QueueRegisters.ERROR_INDEX, next());
            state.getAndOr(AggRegisters.QUEUE_ERRORS, 1 << queue);
            device.count().queueErrors.increment();
            device.events().raise(AggRegisters.EVENT_QUEUE_ERROR);
            if (code == QueueRegisters.ERROR_BROKEN_MEMORY) {
                device.fail(AggRegisters.ERROR_BROKEN_MEMORY);
            }
        }
    }

    int vector() {
        return device.state().getInt(registers + QueueRegisters.VECTOR);
    }

    int moderationMicros() {
        return device.state().getInt(registers + QueueRegisters.MODERATION_USECS);
    }

    int moderationFrames() {
        return device.state().getInt(registers + QueueRegisters.MODERATION_FRAMES);
    }

    /** Place of the flag that an interrupt is held back. */
    int interruptDue() {
        return remembered + VnicState.INTERRUPT_DUE;
    }

    @Override
    public String toString() {
        return device
                + (queue < AggRegisters.MAX_QUEUE_PAIRS
                        ? " tx " + queue
                        : " rx " + (queue - AggRegisters.MAX_QUEUE_PAIRS));
    }
}
