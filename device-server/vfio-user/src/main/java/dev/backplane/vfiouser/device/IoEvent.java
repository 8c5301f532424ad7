// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

import java.util.OptionalLong;

/**
 * A register that a client may write to by signalling an event descriptor (ioeventfd) instead of by a message. Signals that
 * come before the device's thread has seen the last one are one write.
 *
 * @param bar the register's BAR
 * @param offset bytes from the BAR's start, naturally aligned
 * @param width width of the write: 1, 2, 4 or 8 bytes
 * @param match the one value for which the descriptor stands (KVM_IOEVENTFD_FLAG_DATAMATCH), or none: the value that is
 *     written is lost then, and the device gets 0
 * @param shadow whether the client puts the value into a file before it signals, and the device gets that (libvfio-user's
 *     shadow ioeventfd)
 */
public record IoEvent(int bar, long offset, int width, OptionalLong match, boolean shadow) {
    public IoEvent {
        if (Integer.bitCount(width) != 1 || width < 1 || width > 8 || offset < 0 || offset % width != 0) {
            throw new IllegalArgumentException(
                    "a register of 1, 2, 4 or 8 bytes, naturally aligned, not " + width + " at " + offset);
        }
        if (shadow && match.isPresent()) {
            throw new IllegalArgumentException("a value that is matched needs no shadow");
        }
    }

    /** A write of any value, which is lost: a doorbell. */
    public static IoEvent doorbell(int bar, long offset, int width) {
        return new IoEvent(bar, offset, width, OptionalLong.empty(), false);
    }

    /** A write of one value. */
    public static IoEvent matching(int bar, long offset, int width, long value) {
        return new IoEvent(bar, offset, width, OptionalLong.of(value), false);
    }

    /** A write of any value, which comes along in a file. */
    public static IoEvent shadowed(int bar, long offset, int width) {
        return new IoEvent(bar, offset, width, OptionalLong.empty(), true);
    }
}
