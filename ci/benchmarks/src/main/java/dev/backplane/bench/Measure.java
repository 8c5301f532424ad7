// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One measured quantity: samples of several variants that were run in turn. */
final class Measure {
    private final String name;
    private final String unit;
    private final boolean higherIsBetter;
    private final Map<String, List<Double>> samples = new LinkedHashMap<>();
    private String axis;
    private boolean compared = true;

    Measure(String name, String unit, boolean higherIsBetter) {
        this.name = name;
        this.unit = unit;
        this.higherIsBetter = higherIsBetter;
    }

    /** The same samples under another name. */
    Measure named(String other) {
        Measure m = new Measure(other, unit, higherIsBetter);
        m.samples.putAll(samples);
        m.axis = axis;
        m.compared = compared;
        return m;
    }

    /** The variants are numbers of this, each twice the one before or so: they are plotted as a curve. */
    Measure over(String what) {
        axis = what;
        return this;
    }

    /** The variants are different things, so that one divided by another says nothing. */
    Measure independent() {
        compared = false;
        return this;
    }

    /** What the variants are numbers of, or null. */
    String axis() {
        return axis;
    }

    boolean compared() {
        return compared;
    }

    String name() {
        return name;
    }

    String unit() {
        return unit;
    }

    boolean higherIsBetter() {
        return higherIsBetter;
    }

    void add(String variant, double value) {
        samples.computeIfAbsent(variant, v -> new ArrayList<>()).add(value);
    }

    /** Samples of each variant, in the order in which the variants first came. */
    Map<String, List<Double>> samples() {
        return Collections.unmodifiableMap(samples);
    }

    double median(String variant) {
        return quantile(variant, 0.5);
    }

    double least(String variant) {
        return quantile(variant, 0);
    }

    double most(String variant) {
        return quantile(variant, 1);
    }

    /** The sample at {@code q} of the sorted ones; between two samples their mean. */
    private double quantile(String variant, double q) {
        List<Double> sorted = new ArrayList<>(samples.get(variant));
        Collections.sort(sorted);
        double at = q * (sorted.size() - 1);
        int low = (int) Math.floor(at);
        int high = (int) Math.ceil(at);
        return (sorted.get(low) + sorted.get(high)) / 2;
    }
}
