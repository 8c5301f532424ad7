// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.vfiouser.layout.Field;
import dev.backplane.vfiouser.layout.Struct;

/** Finds the declared register at an offset of BAR 0, and so its access rule: the declaration is the decoder. */
final class RegisterMap {
    private static final Field[] CONTROL = fields(AggRegisters.LAYOUT);
    private static final Field[] QUEUE = fields(QueueRegisters.LAYOUT);
    private static final int QUEUES_END = AggRegisters.QUEUES + VnicState.QUEUES * QueueRegisters.BYTES;

    private RegisterMap() {}

    private static Field[] fields(Struct layout) {
        Field[] byWord = new Field[layout.size() / 4];
        for (Field f : layout.fields()) {
            for (int at = f.offset(); at < f.offset() + f.bytes(); at += 4) {
                byWord[at / 4] = f;
            }
        }
        return byWord;
    }

    /** Whether there are register blocks of queues at the offset. */
    static boolean isQueue(long offset) {
        return offset >= AggRegisters.QUEUES && offset < QUEUES_END;
    }

    /** The queue whose block the offset is in. */
    static int queue(long offset) {
        return (int) (offset - AggRegisters.QUEUES) / QueueRegisters.BYTES;
    }

    /** The register that an access of {@code width} bytes at {@code offset} is for, or null if for none as a whole. */
    static Field find(long offset, int width) {
        if (width != 4 && width != 8) {
            return null;
        }
        Field f = null;
        int in = 0;
        if (offset >= 0 && offset < AggRegisters.LAYOUT.size()) {
            in = (int) offset;
            f = CONTROL[in / 4];
        } else if (isQueue(offset)) {
            in = (int) (offset - AggRegisters.QUEUES) % QueueRegisters.BYTES;
            f = QUEUE[in / 4];
        }
        // Registers of eight bytes can be accessed by halves; those of four not by twos.
        return f == null || (width == 8 && (f.type().bytes() != 8 || in != f.offset())) ? null : f;
    }
}
