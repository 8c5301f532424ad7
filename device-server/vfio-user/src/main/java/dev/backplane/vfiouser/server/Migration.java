// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static dev.backplane.vfiouser.protocol.DeviceState.ERROR;
import static dev.backplane.vfiouser.protocol.DeviceState.PRE_COPY;
import static dev.backplane.vfiouser.protocol.DeviceState.RESUMING;
import static dev.backplane.vfiouser.protocol.DeviceState.RUNNING;
import static dev.backplane.vfiouser.protocol.DeviceState.STOP;
import static dev.backplane.vfiouser.protocol.DeviceState.STOP_COPY;

import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.protocol.DeviceState;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * The migration state of a device: the transition table, what each transition does, and the stream of saved state.
 * Confined to the connection's thread.
 */
final class Migration {
    /**
     * The next state on the way from one to another: the shortest way that has no saving state inside. What is not here
     * is refused: leaving ERROR, asking for it, and going back from STOP_COPY to PRE_COPY (specification, "Direct State
     * Transitions").
     */
    private static final Map<DeviceState, Map<DeviceState, DeviceState>> NEXT = Map.of(
            STOP, Map.of(RUNNING, RUNNING, STOP_COPY, STOP_COPY, RESUMING, RESUMING, PRE_COPY, RUNNING),
            RUNNING, Map.of(STOP, STOP, STOP_COPY, STOP, RESUMING, STOP, PRE_COPY, PRE_COPY),
            STOP_COPY, Map.of(STOP, STOP, RUNNING, STOP, RESUMING, STOP),
            RESUMING, Map.of(STOP, STOP, RUNNING, STOP, STOP_COPY, STOP, PRE_COPY, STOP),
            PRE_COPY, Map.of(RUNNING, RUNNING, STOP, RUNNING, RESUMING, RUNNING, STOP_COPY, STOP_COPY),
            ERROR, Map.of());

    private final ServedDevice device;
    private DeviceState state = RUNNING;

    /** What can be read while saving, from {@code read} on; null while there is none. */
    private MemorySegment saved;

    private long read;

    /** What has been written while resuming. */
    private IncomingState incoming;

    Migration(ServedDevice device) {
        this.device = device;
    }

    DeviceState state() {
        return state;
    }

    /**
     * Goes to {@code target}, over as many states as it takes.
     *
     * @return 0, or a negated error number; the state is then the last one that was reached, or ERROR
     */
    int go(DeviceState target) {
        while (state != target) {
            DeviceState next = NEXT.get(state).get(target);
            if (next == null) {
                return -Errno.EINVAL;
            }
            int error = step(next);
            if (error != 0) {
                return error;
            }
        }
        return 0;
    }

    private int step(DeviceState next) {
        boolean ran = state.running();
        if (ran && !next.running()) {
            device.migratable().stop();
            device.memory().awaitUses();
        }
        int error = state == RESUMING ? finishRestore() : 0;
        saved = null;
        read = 0;
        incoming = null;
        if (error != 0) {
            state = ERROR;
            return error;
        }
        if (next == STOP_COPY) {
            saved = SavedState.save(device);
        } else if (next == RESUMING) {
            incoming = new IncomingState();
        }
        if (!ran && next.running()) {
            device.migratable().resume();
            device.controller().resume();
        }
        state = next;
        return 0;
    }

    /** Nothing written leaves the device as it was. */
    private int finishRestore() {
        if (incoming.bytes() == 0) {
            return 0;
        }
        try {
            SavedState.restore(device, incoming.segment());
            return 0;
        } catch (IllegalArgumentException e) {
            return -Errno.EINVAL;
        }
    }

    /**
     * Copies the next part of the saved state out. Before the device is stopped there is none yet.
     *
     * @return bytes copied, fewer than asked for at the end
     */
    int read(MemorySegment to, long at, int bytes) {
        if (saved == null) {
            return 0;
        }
        int n = (int) Math.min(bytes, saved.byteSize() - read);
        MemorySegment.copy(saved, read, to, at, n);
        read += n;
        return n;
    }

    /** Appends to the state that is to be restored. Returns 0, or a negated error number when it becomes too long. */
    int write(MemorySegment from, long at, int bytes) {
        return incoming.append(from, at, bytes) ? 0 : -Errno.ENOSPC;
    }

    /**
     * The device has been reset: it runs. While saving beforehand it stays in that state, and what was saved so far is
     * dropped.
     */
    void reset() {
        boolean ran = state.running();
        saved = null;
        read = 0;
        incoming = null;
        if (state != PRE_COPY) {
            state = RUNNING;
        }
        if (!ran) {
            device.migratable().resume();
        }
    }

    /** The client goes: a device that was stopped for it is reset and runs again, as the next client expects. */
    void leave() {
        if (!state.running()) {
            device.reset(ResetKind.BUS);
            reset();
        }
        state = RUNNING;
        saved = null;
        incoming = null;
    }
}
