// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import java.util.List;
import java.util.Map;

/** A YAML value with the line that it starts on, counted from 1. */
sealed interface YamlNode {
    int line();

    /** What it is, for error messages. */
    String kind();

    /** A value as it was written, without its quotes; what it means is up to the key it belongs to. */
    record Scalar(String text, int line) implements YamlNode {
        @Override
        public String kind() {
            return "the value '" + text + "'";
        }
    }

    /** A sequence. */
    record Items(List<YamlNode> items, int line) implements YamlNode {
        @Override
        public String kind() {
            return "a list";
        }
    }

    /** A mapping, in the order of the file. A key without a value has a {@link Scalar} of no characters. */
    record Fields(Map<String, YamlNode> fields, int line) implements YamlNode {
        @Override
        public String kind() {
            return "a mapping";
        }
    }
}
