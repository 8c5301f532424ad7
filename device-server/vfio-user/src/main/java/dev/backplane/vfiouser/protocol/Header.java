// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;
import java.lang.foreign.MemorySegment;

/** The header of every message (specification, "Header"). */
public final class Header {
    /** The layout. */
    public static final Struct LAYOUT = Struct.memory("vfio_user_header", "Header of every message.")
            .u16("msg_id", RW, "The sender's number for the message, echoed in the reply; need not be unique.")
            .u16("cmd", RW, "Command, also in the reply.")
            .u32("msg_size", RW, "Size of the whole message with this header, in bytes.")
            .u32("flags", RW, "Type in bits 0 to 3, No_reply, Error.")
            .u32("error_no", RW, "In a reply with Error: the error number.")
            .size(16);

    /** Size in bytes. */
    public static final int BYTES = LAYOUT.size();

    public static final int ID = LAYOUT.offset("msg_id");
    public static final int COMMAND = LAYOUT.offset("cmd");
    public static final int SIZE = LAYOUT.offset("msg_size");
    public static final int FLAGS = LAYOUT.offset("flags");
    public static final int ERROR = LAYOUT.offset("error_no");

    /** Bits of {@code flags} that hold the type. */
    public static final int TYPE_MASK = 0xf;

    /** Type of a command. */
    public static final int TYPE_COMMAND = 0;

    /** Type of a reply. */
    public static final int TYPE_REPLY = 1;

    /** In a command: nothing is to be replied, not even an error. */
    public static final int NO_REPLY = 0x10;

    /** In a reply: the command failed, and {@code error_no} tells why. */
    public static final int ERROR_FLAG = 0x20;

    private Header() {}

    /** Writes a header at the start of {@code to}. */
    public static void write(MemorySegment to, int id, int command, int size, int flags, int error) {
        to.set(Wire.U16, ID, (short) id);
        to.set(Wire.U16, COMMAND, (short) command);
        to.set(Wire.U32, SIZE, size);
        to.set(Wire.U32, FLAGS, flags);
        to.set(Wire.U32, ERROR, error);
    }
}
