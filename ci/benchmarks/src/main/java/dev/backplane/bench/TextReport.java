// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results as a table to read in a terminal; it is Markdown, too. */
final class TextReport {
    private TextReport() {}

    static String print(Machine machine, Map<Case, List<Measure>> results, Map<String, String> missing) {
        StringBuilder out = new StringBuilder();
        machine.facts().forEach((k, v) -> out.append(k).append(": ").append(v).append('\n'));
        out.append("\n| measure | variant | median | least – most | runs | ratio |\n|---|---|---|---|---|---|\n");
        for (List<Measure> measures : results.values()) {
            for (Measure m : measures) {
                String first = null;
                for (String variant : m.samples().keySet()) {
                    out.append(row(m, variant, first == null ? variant : first, first == null));
                    first = first == null ? variant : first;
                }
            }
        }
        missing.forEach((what, why) -> out.append("\nNot compared: ")
                .append(what)
                .append(": ")
                .append(why)
                .append('\n'));
        return out.toString();
    }

    private static String row(Measure m, String variant, String first, boolean leads) {
        String ratio =
                leads || !m.compared() ? "" : String.format(Locale.ROOT, "%.2f ×", m.median(first) / m.median(variant));
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s %s | %s – %s | %d | %s |%n",
                leads ? m.name() : "",
                m.axis() == null ? variant : variant + " " + m.axis(),
                number(m.median(variant)),
                m.unit(),
                number(m.least(variant)),
                number(m.most(variant)),
                m.samples().get(variant).size(),
                ratio);
    }

    static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 || size == 0 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.01 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, format, value);
    }
}
