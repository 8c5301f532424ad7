// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

import java.util.List;
import java.util.Locale;

/** Prints layouts as a C header for kernel and user space, each struct followed by assertions of its size and offsets. */
public final class CHeader {
    private final StringBuilder out = new StringBuilder();

    private CHeader() {}

    /**
     * The header's text.
     *
     * @param guard the include guard
     * @param origin one line that says where the declarations are and how to generate the header again
     */
    public static String print(String guard, String origin, List<Constants> constants, List<Struct> structs) {
        CHeader h = new CHeader();
        h.line("/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */");
        h.line("/* Generated, do not edit. " + origin + " */");
        h.line("#ifndef " + guard);
        h.line("#define " + guard);
        h.line("");
        h.line("#include <linux/types.h>");
        h.line("#ifdef __KERNEL__");
        h.line("#include <linux/build_bug.h>");
        h.line("#include <linux/stddef.h>");
        h.line("#else");
        h.line("#include <assert.h>");
        h.line("#include <stddef.h>");
        h.line("#endif");
        constants.forEach(h::constants);
        structs.forEach(h::struct);
        h.line("");
        h.line("#endif /* " + guard + " */");
        return h.out.toString();
    }

    private void constants(Constants group) {
        line("");
        comment(group.name() + ": " + group.doc());
        for (Constants.Constant c : group.constants()) {
            define(c.name(), literal(c.value()), c.doc());
        }
    }

    private void struct(Struct s) {
        line("");
        comment(s.doc());
        if (s.kind() == Struct.Kind.REGISTERS) {
            String prefix = s.name().toUpperCase(Locale.ROOT) + "_";
            for (Field f : s.fields()) {
                if (f.access() != Access.RESERVED) {
                    define(prefix + f.name().toUpperCase(Locale.ROOT), hex(f.offset()), f.access() + ": " + f.doc());
                }
            }
            define(prefix + "BYTES", hex(s.size()), "Size of the block");
            return;
        }
        line("struct " + s.name() + " {");
        for (Field f : s.fields()) {
            String array = f.count() == 1 ? "" : "[" + f.count() + "]";
            line("\t/* " + f.access() + ": " + f.doc() + " */");
            line("\t" + f.type().cType() + " " + f.name() + array + ";");
        }
        line("};");
        line("static_assert(sizeof(struct " + s.name() + ") == " + s.size() + ", \"" + s.name() + "\");");
        for (Field f : s.fields()) {
            line("static_assert(offsetof(struct " + s.name() + ", " + f.name() + ") == " + f.offset() + ", \""
                    + s.name() + "." + f.name() + "\");");
        }
    }

    private void define(String name, String value, String doc) {
        line("#define " + name + " " + value + " /* " + doc + " */");
    }

    private void comment(String text) {
        line("/* " + text + " */");
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    private static String literal(long value) {
        if (value >= 0 && value < 4096) {
            return Long.toString(value);
        }
        return hex(value) + (value >>> 32 != 0 ? "ULL" : "U");
    }
}
