// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane config}: the configuration that a server runs with. */
@Command(
        name = "config",
        description = "Show the effective configuration of a running server.",
        mixinStandardHelpOptions = true)
public final class ConfigCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get("/config");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        print(answer, "", out);
    }

    private static void print(JsonNode value, String indent, PrintWriter out) {
        value.properties().forEach(e -> {
            if (e.getValue().isArray()) {
                out.println(indent + e.getKey() + ":");
                e.getValue().forEach(item -> out.println(indent + "  - " + item));
            } else if (e.getValue().isObject()) {
                out.println(indent + e.getKey() + ":");
                print(e.getValue(), indent + "  ", out);
            } else {
                out.println(indent + e.getKey() + ": " + e.getValue().asText());
            }
        });
    }
}
