// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

/**
 * The INTx pin as VFIO has it: level-triggered, auto-masked. The client is signalled when the pin is asserted and not
 * masked, which masks it; at an unmask it is signalled again if the pin is still asserted. Any thread may call; the lock
 * is held for a system call that does not wait.
 */
final class IntxPin {
    private final EventLine line;
    private boolean asserted;
    private boolean masked;
    private boolean disabled;

    /** Restored from a saved state, and not to signal before the device works again. */
    private boolean held;

    IntxPin(EventLine line) {
        this.line = line;
    }

    synchronized void level(boolean level) {
        asserted = level;
        update();
    }

    synchronized void mask() {
        masked = true;
    }

    synchronized void unmask() {
        masked = false;
        update();
    }

    /** Interrupt Disable of the command register. */
    synchronized void disable(boolean off) {
        disabled = off;
        update();
    }

    private void update() {
        if (asserted && !masked && !disabled && !held && line.wired()) {
            masked = true;
            line.signal();
        }
    }

    /** The client has given an eventfd, or taken it away: what is asserted is signalled on the new one. */
    synchronized void rewired() {
        masked = false;
        update();
    }

    synchronized boolean asserted() {
        return asserted;
    }

    synchronized void reset() {
        asserted = false;
        masked = false;
        disabled = false;
        held = false;
    }

    /** Bit 0: asserted, bit 1: masked. */
    synchronized int state() {
        return (asserted ? 1 : 0) | (masked ? 2 : 0);
    }

    /** Takes a saved state over; the mask was that of another client, so an asserted pin signals the new one. */
    synchronized void restore(int state) {
        asserted = (state & 1) != 0;
        masked = false;
        held = true;
    }

    /** The device works: what was restored may signal. */
    synchronized void resume() {
        held = false;
        update();
    }
}
