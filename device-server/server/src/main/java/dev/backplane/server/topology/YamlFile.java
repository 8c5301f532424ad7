// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads a YAML document into {@link YamlNode}s, which keep the line numbers that data binding would lose. */
final class YamlFile {
    private static final int MAX_DEPTH = 16;

    private final YAMLParser parser;
    private final Problems problems;

    private YamlFile(YAMLParser parser, Problems problems) {
        this.parser = parser;
        this.problems = problems;
    }

    /**
     * Reads one document, whose top must be a mapping. What is wrong with it goes to {@code problems}; the result then
     * holds what could be read.
     *
     * @throws IOException when {@code in} cannot be read
     */
    static YamlNode.Fields read(Reader in, Problems problems) throws IOException {
        try (YAMLParser parser = new YAMLFactory().createParser(in)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                return new YamlNode.Fields(Map.of(), 1);
            }
            YamlNode top = new YamlFile(parser, problems).node(first, 0);
            if (top instanceof YamlNode.Fields fields) {
                return fields;
            }
            problems.add(top.line(), "the file is " + top.kind() + ", it must be a mapping: see 'nodes:'");
        } catch (JsonProcessingException e) {
            int line = e.getLocation() == null ? 1 : Math.max(e.getLocation().getLineNr(), 1);
            problems.add(line, "not YAML: " + firstLine(e.getOriginalMessage()));
        }
        return new YamlNode.Fields(Map.of(), 1);
    }

    private YamlNode node(JsonToken token, int depth) throws IOException {
        int line = parser.currentTokenLocation().getLineNr();
        if (depth > MAX_DEPTH) {
            throw new IOException("YAML nested deeper than " + MAX_DEPTH + " levels at line " + line);
        }
        if (parser.isCurrentAlias() || parser.getObjectId() != null) {
            problems.add(line, "anchors and aliases are not supported: write the value out");
        }
        return switch (token) {
            case START_OBJECT -> fields(line, depth);
            case START_ARRAY -> items(line, depth);
            case VALUE_NULL -> new YamlNode.Scalar("", line);
            default -> new YamlNode.Scalar(parser.getText(), line);
        };
    }

    private YamlNode.Fields fields(int line, int depth) throws IOException {
        Map<String, YamlNode> fields = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = parser.currentName();
            int keyLine = parser.currentTokenLocation().getLineNr();
            YamlNode value = node(parser.nextToken(), depth + 1);
            if (fields.putIfAbsent(key, value) != null) {
                problems.add(keyLine, "'" + key + "' appears twice");
            }
        }
        return new YamlNode.Fields(fields, line);
    }

    private YamlNode.Items items(int line, int depth) throws IOException {
        List<YamlNode> items = new ArrayList<>();
        for (JsonToken t = parser.nextToken(); t != JsonToken.END_ARRAY; t = parser.nextToken()) {
            items.add(node(t, depth + 1));
        }
        return new YamlNode.Items(items, line);
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("syntax error");
    }
}
