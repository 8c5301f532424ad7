// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.interrupt;

import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.natives.EventFd;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * All interrupts of one device: {@link Interrupts} towards the device, and wiring, masks and pending bits towards the
 * client. Each kind has its own eventfds, so that none can be taken for another's. What is not {@link Interrupts} is
 * called by the client's thread only.
 */
public final class InterruptController implements Interrupts {
    /** A kind of interrupt. */
    public enum Kind {
        INTX,
        MSIX,
        /** Tells the client that the device has failed. */
        ERROR,
        /** Asks the client to release the device. */
        REQUEST
    }

    private final InterruptCounters counters = InterruptCounters.create();
    private final MsixVectors vectors;
    private final EventLine intxLine = new EventLine(counters);
    private final EventLine error = new EventLine(counters);
    private final EventLine request = new EventLine(counters);
    private final IntxPin pin = new IntxPin(intxLine);
    private final boolean hasPin;

    private volatile boolean busMaster;

    /**
     * @param msixVectors number of MSI-X vectors, 0 for none
     * @param hasPin whether there is an INTx pin
     */
    public InterruptController(int msixVectors, boolean hasPin) {
        this.vectors = new MsixVectors(msixVectors, counters);
        this.hasPin = hasPin;
    }

    public CounterGroup counters() {
        return counters.group();
    }

    @Override
    public boolean messageSignalled() {
        return vectors.wired();
    }

    @Override
    public void signal(int vector) {
        if (busMaster) {
            vectors.signal(vector);
        } else {
            counters.dropped().increment();
        }
    }

    @Override
    public void pin(boolean asserted) {
        if (hasPin) {
            pin.level(asserted);
        }
    }

    /** Number of vectors of a kind. */
    public int count(Kind kind) {
        return switch (kind) {
            case INTX -> hasPin ? 1 : 0;
            case MSIX -> vectors.count();
            case ERROR, REQUEST -> 1;
        };
    }

    /**
     * Gives a range of vectors eventfds, which now belong to this object; null takes the old one away. When this returns,
     * none of the old ones is written to any more.
     */
    public void wire(Kind kind, int start, EventFd[] fds) {
        switch (kind) {
            case INTX -> {
                intxLine.wire(fds[0]);
                pin.rewired();
            }
            case MSIX -> vectors.wire(start, fds);
            case ERROR -> error.wire(fds[0]);
            case REQUEST -> request.wire(fds[0]);
        }
    }

    /** Takes all eventfds of a kind away. */
    public void unwire(Kind kind) {
        int n = count(kind);
        if (n > 0) {
            wire(kind, 0, new EventFd[n]);
        }
    }

    /** Signals a vector because the client says so, whatever the device does and whether it is masked or not. */
    public void trigger(Kind kind, int vector) {
        switch (kind) {
            case INTX -> intxLine.signal();
            case MSIX -> vectors.deliver(vector);
            case ERROR -> error.signal();
            case REQUEST -> request.signal();
        }
    }

    /** Masks a vector because the client says so. */
    public void mask(Kind kind, int vector) {
        switch (kind) {
            case INTX -> pin.mask();
            case MSIX -> vectors.mask(vector, MsixVectors.BY_CLIENT);
            case ERROR, REQUEST -> throw new IllegalArgumentException(kind + " cannot be masked");
        }
    }

    /** Ends a {@link #mask}; what came meanwhile is signalled. */
    public void unmask(Kind kind, int vector) {
        switch (kind) {
            case INTX -> pin.unmask();
            case MSIX -> vectors.unmask(vector, MsixVectors.BY_CLIENT);
            case ERROR, REQUEST -> throw new IllegalArgumentException(kind + " cannot be masked");
        }
    }

    /** The mask bit of the MSI-X table. */
    public void tableMask(int vector, boolean masked) {
        if (masked) {
            vectors.mask(vector, MsixVectors.BY_TABLE);
        } else {
            vectors.unmask(vector, MsixVectors.BY_TABLE);
        }
    }

    /** What the configuration space says. */
    public void control(boolean busMasterEnabled, boolean functionMasked, boolean intxDisabled) {
        busMaster = busMasterEnabled;
        vectors.functionMask(functionMasked);
        pin.disable(intxDisabled);
    }

    /** Sixty-four bits of the pending-bit array, from vector {@code 64 * word} on. */
    public long pending(int word) {
        return vectors.pending(word);
    }

    /** Level of the INTx pin. */
    public boolean pinAsserted() {
        return pin.asserted();
    }

    /** Forgets levels, masks and pending bits. The wiring is the client's and stays. */
    public void reset() {
        busMaster = false;
        vectors.reset();
        pin.reset();
    }

    /** The client has gone: forgets all, and closes all eventfds. */
    public void disconnect() {
        reset();
        for (Kind kind : Kind.values()) {
            unwire(kind);
        }
    }

    /** Size of the saved state in bytes. */
    public int stateBytes() {
        return 1 + vectors.count();
    }

    /** Saves levels, masks and pending bits; not what the configuration space holds, nor the wiring. */
    public void save(MemorySegment to, long at) {
        to.set(ValueLayout.JAVA_BYTE, at, (byte) pin.state());
        for (int v = 0; v < vectors.count(); v++) {
            to.set(ValueLayout.JAVA_BYTE, at + 1 + v, (byte) vectors.state(v));
        }
    }

    /** Takes a saved state over; nothing is signalled before {@link #resume}. */
    public void restore(MemorySegment from, long at) {
        pin.restore(from.get(ValueLayout.JAVA_BYTE, at));
        for (int v = 0; v < vectors.count(); v++) {
            vectors.restore(v, from.get(ValueLayout.JAVA_BYTE, at + 1 + v));
        }
    }

    /** Signals what is pending: the device works again. */
    public void resume() {
        vectors.resume();
        pin.resume();
    }
}
