// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Field;

/**
 * BAR 0 of a vNIC: which access does what. A bad access (to nothing, of a wrong width, with a value out of range, to a
 * register that is fixed now) is counted; a bad read gives 0, a bad write does nothing. No read has a side effect.
 *
 * <p>Only the client's thread.
 */
final class VnicRegisters {
    /** Longest delay of moderation. */
    static final int MAX_MODERATION_MICROS = 1_000_000;

    private static final int FILTERS = AggRegisters.FILTER_PROMISCUOUS | AggRegisters.FILTER_ALL_MULTICAST;
    private static final int DOORBELLS_END = AggRegisters.DOORBELLS + VnicState.QUEUES * AggRegisters.DOORBELL_STRIDE;
    private static final int STATISTICS_END = AggRegisters.STATISTICS + AggStatistics.LAYOUT.size();

    private final VnicDevice device;
    private final VnicState state;

    VnicRegisters(VnicDevice device) {
        this.device = device;
        this.state = device.state();
    }

    long read(long offset, int width) {
        if (offset >= AggRegisters.STATISTICS && offset < STATISTICS_END && (width == 4 || width == 8)) {
            long statistic = device.count().statistic((int) (offset - AggRegisters.STATISTICS));
            return width == 8 ? statistic : (statistic >>> ((offset & 4) * 8)) & 0xffff_ffffL;
        }
        Field f = RegisterMap.find(offset, width);
        if (f == null) {
            bad();
            return 0;
        }
        if (offset == AggRegisters.BAD_ACCESSES) {
            return device.count().badAccesses.get() & 0xffff_ffffL;
        }
        return state.get((int) offset, width);
    }

    void write(long offset, int width, long value) {
        if (offset >= AggRegisters.DOORBELLS && offset < DOORBELLS_END) {
            doorbell((int) (offset - AggRegisters.DOORBELLS), width);
            return;
        }
        Field f = RegisterMap.find(offset, width);
        boolean done;
        if (f == null || f.access() == Access.RO || f.access() == Access.RESERVED) {
            done = false;
        } else if (RegisterMap.isQueue(offset)) {
            int queue = RegisterMap.queue(offset);
            done = queueRegister(queue, (int) offset - VnicState.queue(queue), (int) offset, width, value);
        } else {
            done = controlRegister(f, (int) offset, width, value);
        }
        if (!done) {
            bad();
        }
    }

    private void bad() {
        device.count().badAccesses.increment();
    }

    /** Any width will do, the value means nothing: what is new is in memory. */
    private void doorbell(int offset, int width) {
        if (width > AggRegisters.DOORBELL_STRIDE || offset % AggRegisters.DOORBELL_STRIDE != 0) {
            bad();
            return;
        }
        device.queues().doorbell(offset / AggRegisters.DOORBELL_STRIDE);
    }

    private boolean controlRegister(Field f, int offset, int width, long value) {
        int v = (int) value;
        if (f.offset() == AggRegisters.DRIVER_FEATURES) {
            long wanted = merged(offset, width, f.offset(), value);
            if (device.status() == VnicStatus.RUNNING || (wanted & ~state.getLong(AggRegisters.FEATURES)) != 0) {
                return false;
            }
            state.set(offset, width, value);
            return true;
        }
        if (f.offset() == AggRegisters.MULTICAST_FILTER) {
            state.set(offset, width, value);
            device.updateSettings();
            return true;
        }
        if (offset == AggRegisters.CONTROL) {
            device.control(v);
            return true;
        }
        if (offset == AggRegisters.EVENT_STATUS) {
            device.events().clear(v);
            return true;
        }
        if (!inRange(offset, v)) {
            return false;
        }
        state.setInt(offset, v);
        device.updateSettings();
        return true;
    }

    /** Whether a state holds in a register that the driver writes what the driver could have written. */
    static boolean allowed(int offset, VnicState in) {
        if (offset == AggRegisters.DRIVER_FEATURES) {
            return (in.getLong(offset) & ~VnicDevice.FEATURES) == 0;
        }
        if (offset == AggRegisters.CONTROL) {
            return (in.getInt(offset) & ~AggRegisters.CONTROL_ENABLE) == 0;
        }
        return offset == AggRegisters.MULTICAST_FILTER || inRange(offset, in.getInt(offset));
    }

    /** The same for a register of a queue, at {@code offset} of its block. */
    static boolean allowedOfQueue(int offset, int queue, VnicState in) {
        int v = in.getInt(VnicState.queue(queue) + offset);
        if (offset == QueueRegisters.CONTROL) {
            return (v & ~QueueRegisters.ENABLE) == 0;
        }
        if (offset == QueueRegisters.VECTOR) {
            return vector(v);
        }
        return offset != QueueRegisters.MODERATION_USECS || (v >= 0 && v <= MAX_MODERATION_MICROS);
    }

    private static boolean inRange(int offset, int v) {
        if (offset == AggRegisters.MTU) {
            return v >= AggRegisters.MIN_MTU && v <= AggRegisters.MAX_MTU;
        }
        if (offset == AggRegisters.QUEUE_PAIRS) {
            return v >= 1 && v <= AggRegisters.MAX_QUEUE_PAIRS;
        }
        if (offset == AggRegisters.EVENT_VECTOR) {
            return vector(v);
        }
        if (offset == AggRegisters.PACKET_FILTER) {
            return (v & ~FILTERS) == 0;
        }
        return offset == AggRegisters.SCRATCH;
    }

    private static boolean vector(int v) {
        return v == AggRegisters.NO_VECTOR || (v >= 0 && v < AggRegisters.VECTORS);
    }

    /** The whole register of eight bytes as it would be after a write of {@code width} bytes at {@code offset}. */
    private long merged(int offset, int width, int register, long value) {
        if (width == 8) {
            return value;
        }
        int shift = (offset - register) * 8;
        return (state.getLong(register) & ~(0xffff_ffffL << shift)) | (value & 0xffff_ffffL) << shift;
    }

    private boolean queueRegister(int queue, int in, int offset, int width, long value) {
        int v = (int) value;
        if (in == QueueRegisters.CONTROL) {
            if ((v & ~QueueRegisters.ENABLE) != 0) {
                return false;
            }
            device.queues().enable(queue, (v & QueueRegisters.ENABLE) != 0);
            return true;
        }
        if (in == QueueRegisters.MODERATION_USECS) {
            if (v < 0 || v > MAX_MODERATION_MICROS) {
                return false;
            }
        } else if (in == QueueRegisters.VECTOR) {
            if (!vector(v)) {
                return false;
            }
        } else if (in != QueueRegisters.MODERATION_FRAMES
                && state.getInt(VnicState.queue(queue) + QueueRegisters.CONTROL) != 0) {
            return false; // addresses and size are fixed while the queue is enabled
        }
        state.set(offset, width, value);
        return true;
    }
}
