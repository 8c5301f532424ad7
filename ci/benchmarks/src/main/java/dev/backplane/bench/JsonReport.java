// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/** The results with all samples, for programs. */
final class JsonReport {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private JsonReport() {}

    static String print(Machine machine, Map<Case, List<Measure>> results, Map<String, String> missing) {
        ObjectNode root = JSON.createObjectNode();
        ObjectNode facts = root.putObject("machine");
        machine.facts().forEach(facts::put);
        missing.forEach(root.putObject("not_compared")::put);
        ArrayNode all = root.putArray("measures");
        results.forEach((c, measures) -> measures.forEach(m -> {
            ObjectNode one = all.addObject().put("case", c.name()).put("measure", m.name());
            one.put("unit", m.unit()).put("higher_is_better", m.higherIsBetter());
            ArrayNode variants = one.putArray("variants");
            m.samples().forEach((variant, samples) -> {
                ObjectNode v = variants.addObject().put("variant", variant);
                v.put("median", m.median(variant))
                        .put("least", m.least(variant))
                        .put("most", m.most(variant));
                samples.forEach(v.putArray("samples")::add);
            });
        }));
        try {
            return JSON.writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
