// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The results as one HTML page that needs nothing else: each sample a dot, the median a line. */
final class HtmlReport {
    private static final int WIDTH = 640;
    private static final int ROW = 28;
    private static final int LABEL = 190;
    private static final int RIGHT = 110;

    private final StringBuilder out = new StringBuilder();

    private HtmlReport() {}

    static String print(Machine machine, Map<Case, List<Measure>> results, Map<String, String> missing) {
        HtmlReport r = new HtmlReport();
        r.out.append(
                "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Backplane benchmark</title><style>"
                        + "body{font:15px/1.4 sans-serif;max-width:720px;margin:2em auto;color:#222}"
                        + "h2{font-size:1.05em;margin:1.6em 0 .3em}td{padding:0 1em 0 0}svg{display:block}"
                        + "text{font:13px sans-serif;fill:#222}.axis{stroke:#ddd}.dot{fill:#2a6f97;fill-opacity:.45}"
                        + ".median,.curve{stroke:#c1121f;stroke-width:2;fill:none}</style><h1>Backplane benchmark</h1><table>");
        machine.facts()
                .forEach((k, v) -> r.out.append("<tr><td>")
                        .append(escape(k))
                        .append("<td>")
                        .append(escape(v)));
        r.out.append("</table>");
        results.forEach((c, measures) -> {
            r.out.append("<h2>").append(escape(c.doc())).append("</h2>");
            measures.forEach(r::plot);
        });
        missing.forEach((what, why) -> r.out.append("<p>Not compared: ")
                .append(escape(what))
                .append(": ")
                .append(escape(why)));
        return r.out.append("</html>\n").toString();
    }

    private void plot(Measure m) {
        double most = m.samples().keySet().stream().mapToDouble(m::most).max().orElse(1);
        int height = ROW * m.samples().size() + 6;
        out.append("<p>")
                .append(escape(m.name() + ", " + m.unit()))
                .append(m.higherIsBetter() ? " (more is better)" : " (less is better)");
        if (m.axis() != null) {
            out.append(Curve.svg(m));
            return;
        }
        if (!m.compared()) {
            table(m);
            return;
        }
        out.append(String.format(Locale.ROOT, "<svg width=\"%d\" height=\"%d\" role=\"img\">", WIDTH + RIGHT, height));
        int y = ROW / 2;
        for (String variant : m.samples().keySet()) {
            text(0, y + 4, variant);
            out.append(String.format(
                    Locale.ROOT, "<line class=\"axis\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LABEL, y, WIDTH, y));
            for (double sample : m.samples().get(variant)) {
                out.append(String.format(
                        Locale.ROOT, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%d\" r=\"4\"/>", x(sample, most), y));
            }
            double median = x(m.median(variant), most);
            out.append(String.format(
                    Locale.ROOT,
                    "<line class=\"median\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                    median,
                    y - 9,
                    median,
                    y + 9));
            text(WIDTH + 8, y + 4, TextReport.number(m.median(variant)));
            y += ROW;
        }
        out.append("</svg>");
    }

    private void table(Measure m) {
        out.append("<table>");
        m.samples()
                .keySet()
                .forEach(variant -> out.append("<tr><td>")
                        .append(escape(variant))
                        .append("<td>")
                        .append(TextReport.number(m.median(variant))));
        out.append("</table>");
    }

    private static double x(double value, double most) {
        return LABEL + (WIDTH - LABEL - 6) * (most == 0 ? 0 : value / most);
    }

    private void text(int x, int y, String text) {
        out.append(String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\">%s</text>", x, y, escape(text)));
    }

    static String escape(String s) {
        return s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
