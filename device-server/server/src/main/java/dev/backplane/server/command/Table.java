// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** A table of text with aligned columns; columns of numbers are aligned to the right. */
final class Table {
    private final List<String[]> rows = new ArrayList<>();
    private final String[] head;

    Table(String... head) {
        this.head = head;
    }

    /** Adds a row, with as many cells as the table has columns. Null cells show as {@code -}. */
    void row(Object... cells) {
        String[] row = new String[head.length];
        for (int i = 0; i < row.length; i++) {
            row[i] = cells[i] == null || cells[i].toString().isEmpty() ? "-" : cells[i].toString();
        }
        rows.add(row);
    }

    /** Prints the head and all rows. */
    void print(PrintWriter out) {
        int[] width = new int[head.length];
        boolean[] numeric = new boolean[head.length];
        for (int i = 0; i < head.length; i++) {
            width[i] = head[i].length();
            numeric[i] = !rows.isEmpty();
            for (String[] row : rows) {
                width[i] = Math.max(width[i], row[i].length());
                numeric[i] &= row[i].matches("-|[0-9]+");
            }
        }
        print(out, head, width, numeric);
        rows.forEach(row -> print(out, row, width, numeric));
        out.flush();
    }

    private static void print(PrintWriter out, String[] cells, int[] width, boolean[] numeric) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.length; i++) {
            String pad = " ".repeat(width[i] - cells[i].length());
            line.append(i == 0 ? "" : "  ").append(numeric[i] ? pad + cells[i] : cells[i] + pad);
        }
        out.println(line.toString().stripTrailing());
    }
}
