// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

import java.util.Locale;

/** Prints layouts as the Markdown tables of the documentation. */
public final class MarkdownTable {
    private MarkdownTable() {}

    /** A section with the columns offset, size, access (or writer), reset value and function. */
    public static String print(Struct s) {
        StringBuilder out = new StringBuilder();
        String access = s.kind() == Struct.Kind.REGISTERS ? "Access" : "Writer";
        out.append("### `").append(s.name()).append("` (").append(s.size()).append(" bytes)\n\n");
        out.append(s.doc()).append("\n\n");
        out.append("| Offset | Size | ").append(access).append(" | On reset | Name | Function |\n");
        out.append("|---|---|---|---|---|---|\n");
        for (Field f : s.fields()) {
            String size = f.count() == 1
                    ? "" + f.type().bytes()
                    : f.count() + " × " + f.type().bytes();
            out.append(String.format(
                    Locale.ROOT,
                    "| 0x%03x | %s | %s | %s | `%s` | %s |%n",
                    f.offset(),
                    size,
                    f.access(),
                    f.reset() == 0 ? "0" : "0x" + Long.toHexString(f.reset()),
                    f.name(),
                    f.doc()));
        }
        return out.append('\n').toString();
    }

    /** A section with the columns name, value and meaning. */
    public static String print(Constants group) {
        StringBuilder out = new StringBuilder();
        out.append("### ")
                .append(group.name())
                .append("\n\n")
                .append(group.doc())
                .append("\n\n");
        out.append("| Name | Value | Meaning |\n|---|---|---|\n");
        for (Constants.Constant c : group.constants()) {
            String value = c.value() >= 0 && c.value() < 4096 ? "" + c.value() : "0x" + Long.toHexString(c.value());
            out.append("| `").append(c.name()).append("` | ").append(value);
            out.append(" | ").append(c.doc()).append(" |\n");
        }
        return out.append('\n').toString();
    }
}
