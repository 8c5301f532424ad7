// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A measure whose variants are numbers, as an SVG plot: number of nodes or so to the right, doubling; value upwards. */
final class Curve {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 200;
    private static final int LEFT = 70;
    private static final int BOTTOM = 36;
    private static final int LINES = 4;

    private final Measure measure;
    private final double most;
    private final double first;
    private final double last;
    private final StringBuilder out = new StringBuilder();

    private Curve(Measure measure) {
        this.measure = measure;
        Set<String> variants = measure.samples().keySet();
        most = variants.stream().mapToDouble(measure::most).max().orElse(1);
        first = variants.stream().mapToDouble(Double::parseDouble).min().orElse(1);
        last = variants.stream().mapToDouble(Double::parseDouble).max().orElse(1);
    }

    /** The plot as an {@code svg} element. */
    static String svg(Measure measure) {
        return new Curve(measure).draw();
    }

    private String draw() {
        out.append(String.format(
                Locale.ROOT, "<svg width=\"%d\" height=\"%d\" role=\"img\">", WIDTH + 20, HEIGHT + BOTTOM));
        for (int i = 0; i <= LINES; i++) {
            double value = most * i / LINES;
            line("axis", LEFT, y(value), WIDTH, y(value));
            text(0, y(value) + 4, TextReport.number(value));
        }
        StringBuilder path = new StringBuilder();
        measure.samples().forEach((variant, samples) -> {
            double x = x(Double.parseDouble(variant));
            dots(x, samples);
            path.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y(measure.median(variant))));
            text(x - 8, HEIGHT + 18, variant);
        });
        text(LEFT, HEIGHT + 34, measure.axis());
        return out.append("<polyline class=\"curve\" points=\"")
                .append(path)
                .append("\"/></svg>")
                .toString();
    }

    private void dots(double x, List<Double> samples) {
        samples.forEach(s -> out.append(
                String.format(Locale.ROOT, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y(s))));
    }

    private void line(String style, double x1, double y1, double x2, double y2) {
        out.append(String.format(
                Locale.ROOT,
                "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                style,
                x1,
                y1,
                x2,
                y2));
    }

    private void text(double x, double y, String text) {
        out.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", x, y, HtmlReport.escape(text)));
    }

    private double x(double number) {
        double span = Math.log(last / first);
        return LEFT + 12 + (span == 0 ? 0 : (WIDTH - LEFT - 24) * Math.log(number / first) / span);
    }

    private double y(double value) {
        return 10 + (HEIGHT - 10) * (1 - (most == 0 ? 0 : value / most));
    }
}
