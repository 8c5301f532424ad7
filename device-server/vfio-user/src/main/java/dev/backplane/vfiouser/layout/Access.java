// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

/** Who may do what with a field: access of software to a register, or the one writer of a word in shared memory. */
public enum Access {
    /** Register: read only; writes are dropped and counted. */
    RO("RO"),
    /** Register: read and write. */
    RW("RW"),
    /** Register: write only; reads give 0. */
    WO("WO"),
    /** Register: read; writing a 1 clears that bit. */
    RW1C("RW1C"),
    /** Memory: written by the guest's kernel driver, read by the device. */
    DRIVER("driver"),
    /** Memory: written by the device, read by the guest. */
    DEVICE("device"),
    /** Memory: written by the user process that owns the page, read by the device. */
    PROCESS("process"),
    /** Reserved: written as zero, ignored when read. */
    RESERVED("reserved");

    private final String text;

    Access(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
