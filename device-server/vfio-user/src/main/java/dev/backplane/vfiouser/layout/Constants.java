// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.layout;

import java.util.ArrayList;
import java.util.List;

/** A named group of constants of a layout (enumeration values, flag bits, limits), for the C header and the tables. */
public final class Constants {
    /**
     * One constant.
     *
     * @param name upper-case C name
     * @param value its value
     * @param doc one line
     */
    public record Constant(String name, long value, String doc) {}

    private final String name;
    private final String doc;
    private final List<Constant> constants;

    private Constants(Builder b) {
        this.name = b.name;
        this.doc = b.doc;
        this.constants = List.copyOf(b.constants);
    }

    /** Starts a group. {@code name} is its heading in the documentation. */
    public static Builder of(String name, String doc) {
        return new Builder(name, doc);
    }

    public String name() {
        return name;
    }

    public String doc() {
        return doc;
    }

    public List<Constant> constants() {
        return constants;
    }

    /** Collects the constants of a group. */
    public static final class Builder {
        private final String name;
        private final String doc;
        private final List<Constant> constants = new ArrayList<>();

        private Builder(String name, String doc) {
            this.name = name;
            this.doc = doc;
        }

        public Builder add(String constant, long value, String text) {
            constants.add(new Constant(constant, value, text));
            return this;
        }

        public Constants build() {
            return new Constants(this);
        }
    }
}
