// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

/** The type of one little-endian field in a register block, descriptor, ring header or message. */
public enum FieldType {
    /** One unsigned byte. */
    U8(1, "__u8"),
    /** Two bytes, little-endian. */
    U16(2, "__le16"),
    /** Four bytes, little-endian. */
    U32(4, "__le32"),
    /** Eight bytes, little-endian. */
    U64(8, "__le64");

    private final int bytes;
    private final String cType;

    FieldType(int bytes, String cType) {
        this.bytes = bytes;
        this.cType = cType;
    }

    /** Size, and natural alignment, in bytes. */
    public int bytes() {
        return bytes;
    }

    /** The type's name in the generated C header. */
    public String cType() {
        return cType;
    }
}
