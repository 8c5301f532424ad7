// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.pci;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/**
 * The configuration space of a function, 4096 bytes: header type 0, power management, PCI Express endpoint and MSI-X.
 * Written bits take effect where they are writable and are ignored elsewhere, as the standard has it, whatever size and
 * alignment an access has. Confined to one thread, but for the flags that say so.
 */
public final class ConfigSpace {
    /** Size in bytes. */
    public static final int BYTES = 4096;

    /** What the owner does about writes; called after the write has taken effect. */
    public interface Listener {
        /** Bus mastering, interrupt disable or function mask may have changed. */
        void controlChanged();

        /** Software asked for a function level reset; the owner resets the device and this space. */
        void functionLevelReset();
    }

    private final byte[] initial;
    private final byte[] values;
    private final byte[] writable;
    private final byte[] clearable;
    private final boolean msix;
    private final Listener listener;

    private volatile boolean busMaster;

    public ConfigSpace(PciFunction function, Listener listener) {
        ConfigLayout layout = new ConfigLayout(function);
        this.initial = layout.values();
        this.values = initial.clone();
        this.writable = layout.writable();
        this.clearable = layout.clearable();
        this.msix = function.msix() != null;
        this.listener = listener;
    }

    /** Bus Master Enable, while in power state D0. Any thread may ask. */
    public boolean busMaster() {
        return busMaster;
    }

    /** Interrupt Disable of the command register. */
    public boolean intxDisabled() {
        return (u16(ConfigLayout.COMMAND) & ConfigLayout.COMMAND_INTX_DISABLE) != 0;
    }

    /** Function Mask of the MSI-X message control register. */
    public boolean msixMasked() {
        return msix && (u16(ConfigLayout.MSIX + 2) & ConfigLayout.MSIX_FUNCTION_MASK) != 0;
    }

    /** Sets Interrupt Status of the status register: the level of the INTx pin. */
    public void intxStatus(boolean asserted) {
        int status = values[ConfigLayout.STATUS] & ~ConfigLayout.STATUS_INTERRUPT;
        values[ConfigLayout.STATUS] = (byte) (asserted ? status | ConfigLayout.STATUS_INTERRUPT : status);
    }

    /** Reads {@code bytes} bytes from {@code offset} on; the range is the caller's to check. */
    public void read(int offset, MemorySegment to, long at, int bytes) {
        MemorySegment.copy(values, offset, to, JAVA_BYTE, at, bytes);
    }

    /** Writes {@code bytes} bytes from {@code offset} on; the range is the caller's to check. */
    public void write(int offset, MemorySegment from, long at, int bytes) {
        boolean reset = false;
        for (int i = 0; i < bytes; i++) {
            int o = offset + i;
            int v = from.get(JAVA_BYTE, at + i);
            reset |= o == ConfigLayout.DEVICE_CONTROL + 1 && (v & ConfigLayout.INITIATE_FLR_HIGH) != 0;
            values[o] = (byte) (((values[o] & ~writable[o]) | (v & writable[o])) & ~(v & clearable[o]));
        }
        update();
        listener.controlChanged();
        if (reset) {
            listener.functionLevelReset();
        }
    }

    /** Returns to the state after power-on. */
    public void reset() {
        System.arraycopy(initial, 0, values, 0, BYTES);
        update();
    }

    /** Copies the whole state out; {@code to} has {@link #BYTES} bytes from {@code at} on. */
    public void save(MemorySegment to, long at) {
        MemorySegment.copy(values, 0, to, JAVA_BYTE, at, BYTES);
    }

    /**
     * Takes a state over: the writable bits of it, after a check that all others are those of this function.
     *
     * @throws IllegalArgumentException when it is the space of another function; nothing has changed then
     */
    public void restore(MemorySegment from, long at) {
        for (int o = 0; o < BYTES; o++) {
            int fixed = ~(writable[o] | clearable[o] | (o == ConfigLayout.STATUS ? ConfigLayout.STATUS_INTERRUPT : 0));
            if (((from.get(JAVA_BYTE, at + o) ^ initial[o]) & fixed & 0xff) != 0) {
                throw new IllegalArgumentException("byte 0x" + Integer.toHexString(o)
                        + " of the configuration space is not that of this function");
            }
        }
        MemorySegment.copy(from, JAVA_BYTE, at, values, 0, BYTES);
        update();
    }

    private void update() {
        boolean enabled = (values[ConfigLayout.COMMAND] & ConfigLayout.COMMAND_BUS_MASTER) != 0;
        boolean awake = (values[ConfigLayout.PM + 4] & ConfigLayout.PM_STATE) == 0;
        busMaster = enabled && awake;
    }

    private int u16(int offset) {
        return (values[offset] & 0xff) | (values[offset + 1] & 0xff) << 8;
    }
}
