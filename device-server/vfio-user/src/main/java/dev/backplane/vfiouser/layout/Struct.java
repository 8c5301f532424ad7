// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

import java.util.ArrayList;
import java.util.List;

/**
 * The one declaration of a layout that two sides share: a register block, a descriptor, a ring header, a message.
 * Java takes its offsets from here as constants ({@link #offset}); the C header and the tables in the documentation are
 * generated from it ({@link CHeader}, {@link MarkdownTable}). Immutable.
 *
 * <p>All fields are little-endian and naturally aligned; a hole between two fields has to be declared as reserved, so
 * that the C compiler never pads by itself.
 */
public final class Struct {
    /** How a struct appears in the C header. */
    public enum Kind {
        /** A register block: one {@code #define} for each offset, to be used with {@code readl} and {@code writel}. */
        REGISTERS,
        /** Shared memory or a message: a C {@code struct} whose size and offsets are asserted. */
        MEMORY
    }

    private final Kind kind;
    private final String name;
    private final String doc;
    private final int size;
    private final List<Field> fields;

    private Struct(Builder b) {
        this.kind = b.kind;
        this.name = b.name;
        this.doc = b.doc;
        this.size = b.next;
        this.fields = List.copyOf(b.fields);
    }

    /** Starts a register block. {@code name} is the prefix of the C constants in lower case, such as {@code bp_agg_reg}. */
    public static Builder registers(String name, String doc) {
        return new Builder(Kind.REGISTERS, name, doc);
    }

    /** Starts a struct in shared memory. {@code name} is the tag of the C struct. */
    public static Builder memory(String name, String doc) {
        return new Builder(Kind.MEMORY, name, doc);
    }

    public Kind kind() {
        return kind;
    }

    public String name() {
        return name;
    }

    public String doc() {
        return doc;
    }

    /** Size in bytes. */
    public int size() {
        return size;
    }

    public List<Field> fields() {
        return fields;
    }

    /** Offset in bytes of the field {@code field}; meant for the initialisers of {@code static final} constants. */
    public int offset(String field) {
        return field(field).offset();
    }

    /** The field of that name. */
    public Field field(String field) {
        for (Field f : fields) {
            if (f.name().equals(field)) {
                return f;
            }
        }
        throw new IllegalArgumentException(name + " has no field " + field);
    }

    /** Collects the fields of a struct in order of their offsets. */
    public static final class Builder {
        private final Kind kind;
        private final String name;
        private final String doc;
        private final List<Field> fields = new ArrayList<>();
        private int next;

        private Builder(Kind kind, String name, String doc) {
            this.kind = kind;
            this.name = name;
            this.doc = doc;
        }

        public Builder u8(String field, Access access, String text) {
            return add(field, FieldType.U8, 1, access, 0, text);
        }

        public Builder u16(String field, Access access, String text) {
            return add(field, FieldType.U16, 1, access, 0, text);
        }

        public Builder u32(String field, Access access, String text) {
            return add(field, FieldType.U32, 1, access, 0, text);
        }

        public Builder u64(String field, Access access, String text) {
            return add(field, FieldType.U64, 1, access, 0, text);
        }

        /** A four-byte field with a reset value other than 0. */
        public Builder u32(String field, Access access, long reset, String text) {
            return add(field, FieldType.U32, 1, access, reset, text);
        }

        /** An eight-byte field with a reset value other than 0. */
        public Builder u64(String field, Access access, long reset, String text) {
            return add(field, FieldType.U64, 1, access, reset, text);
        }

        public Builder array(String field, FieldType type, int count, Access access, String text) {
            return add(field, type, count, access, 0, text);
        }

        /** Declares the bytes from here to {@code offset} reserved. Does nothing when already there. */
        public Builder reservedTo(int offset) {
            if (offset < next) {
                throw new IllegalArgumentException(name + ": at " + next + ", already past " + offset);
            }
            int gap = offset - next;
            FieldType type = (gap % 4 == 0 && next % 4 == 0) ? FieldType.U32 : FieldType.U8;
            return gap == 0 ? this : add("reserved_" + next, type, gap / type.bytes(), Access.RESERVED, 0, "Zero.");
        }

        private Builder add(String field, FieldType type, int count, Access access, long reset, String text) {
            if (next % type.bytes() != 0) {
                throw new IllegalArgumentException(name + "." + field + " is not aligned: offset " + next);
            }
            if (fields.stream().anyMatch(f -> f.name().equals(field))) {
                throw new IllegalArgumentException(name + "." + field + " is declared twice");
            }
            fields.add(new Field(field, next, type, count, access, reset, text));
            next = Math.addExact(next, Math.multiplyExact(type.bytes(), count));
            return this;
        }

        /** Finishes the struct, whose size has to be {@code size} bytes: a change of size is then never an accident. */
        public Struct size(int size) {
            if (next != size) {
                throw new IllegalArgumentException(name + " has " + next + " bytes, declared are " + size);
            }
            return new Struct(this);
        }
    }
}
