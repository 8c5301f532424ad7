// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The MSI-X table as registers (PCIe 6.2, 7.7.2.4 to 7.7.2.8): 16 bytes for each vector, address, data and vector
 * control. A client that traps the table by itself, as QEMU does, never writes here; so the mask bit, which reads as 1
 * after a reset, only masks once somebody has written it. Confined to one thread.
 */
public final class MsixTable {
    /** Bytes of an entry. */
    public static final int ENTRY = 16;

    private static final int CONTROL = 12;
    private static final int MASKED = 1;

    /** Is told when software writes a vector's mask bit. */
    public interface Masks {
        void mask(int vector, boolean masked);
    }

    private final byte[] bytes;
    private final ByteBuffer buffer;
    private final Masks masks;

    public MsixTable(int vectors, Masks masks) {
        this.bytes = new byte[vectors * ENTRY];
        this.buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        this.masks = masks;
        reset();
    }

    /** Reads {@code width} (1, 2, 4 or 8) bytes, naturally aligned. */
    public long read(int offset, int width) {
        return switch (width) {
            case 1 -> bytes[offset] & 0xffL;
            case 2 -> buffer.getShort(offset) & 0xffffL;
            case 4 -> buffer.getInt(offset) & 0xffff_ffffL;
            default -> buffer.getLong(offset);
        };
    }

    /** Writes {@code width} (1, 2, 4 or 8) bytes, naturally aligned; vector control has one writable bit. */
    public void write(int offset, int width, long value) {
        for (int i = 0; i < width; i++) {
            int o = offset + i;
            byte b = (byte) (value >>> (8 * i));
            switch (o % ENTRY) {
                case CONTROL -> {
                    bytes[o] = (byte) (b & MASKED);
                    masks.mask(o / ENTRY, (b & MASKED) != 0);
                }
                case CONTROL + 1, CONTROL + 2, CONTROL + 3 -> {
                    // reserved: stays 0
                }
                default -> bytes[o] = b;
            }
        }
    }

    /** Returns to the state after power-on: all zero, all masked. The owner forgets the masks by itself. */
    public void reset() {
        for (int o = 0; o < bytes.length; o++) {
            bytes[o] = (byte) (o % ENTRY == CONTROL ? MASKED : 0);
        }
    }

    /** Size of the saved state in bytes. */
    public int stateBytes() {
        return bytes.length;
    }

    public void save(MemorySegment to, long at) {
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, to, at, bytes.length);
    }

    /** Takes a state over, without telling about masks. */
    public void restore(MemorySegment from, long at) {
        MemorySegment.copy(from, at, MemorySegment.ofArray(bytes), 0, bytes.length);
        for (int o = 0; o < bytes.length; o += ENTRY) {
            bytes[o + CONTROL] &= MASKED;
            bytes[o + CONTROL + 1] = 0;
            bytes[o + CONTROL + 2] = 0;
            bytes[o + CONTROL + 3] = 0;
        }
    }
}
