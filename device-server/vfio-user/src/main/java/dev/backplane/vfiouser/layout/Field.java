// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

/**
 * One field of a {@link Struct}.
 *
 * @param name lower-case name with underscores, the C member's name
 * @param offset bytes from the start of the struct
 * @param type width and byte order
 * @param count number of elements; more than 1 makes it an array
 * @param access who may write it
 * @param reset value after reset (of each element)
 * @param doc one line: what it does, with unit
 */
public record Field(String name, int offset, FieldType type, int count, Access access, long reset, String doc) {
    /** Size of the whole field in bytes. */
    public int bytes() {
        return type.bytes() * count;
    }
}
