// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code backplane counters}: everything that is counted. */
@Command(
        name = "counters",
        description = "Show what a running server has counted, for one node or uplink or for everything.",
        mixinStandardHelpOptions = true)
public final class CountersCommand extends ClientCommand {
    @Parameters(
            paramLabel = "NODE",
            arity = "0..1",
            description = "Name of a node or uplink; without it all, and the fabric.")
    private String node;

    @Option(names = "--all", description = "Show counters that are 0, too.")
    private boolean all;

    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get(node == null ? "/counters" : pathOf(server, node) + "/counters");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        Table table = new Table("OF", "COUNTER", "VALUE");
        rows(table, node == null ? "" : node, answer);
        table.print(out);
    }

    private void rows(Table table, String of, JsonNode counters) {
        counters.properties().forEach(e -> {
            JsonNode value = e.getValue();
            if (value.isObject()) {
                rows(table, of.isEmpty() ? e.getKey() : of + "." + e.getKey(), value);
            } else if (all || value.asLong() != 0) {
                table.row(of, e.getKey(), value.asText());
            }
        });
    }
}
