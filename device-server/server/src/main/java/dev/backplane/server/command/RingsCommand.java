// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code backplane rings}: the rings of the messaging modules, or their contexts. */
@Command(
        name = "rings",
        description = "Show the ring buffers of the messaging modules, or with --contexts their contexts.",
        mixinStandardHelpOptions = true)
public final class RingsCommand extends ClientCommand {
    @Option(names = "--contexts", description = "Show the contexts that have been used instead.")
    private boolean contexts;

    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get(contexts ? "/contexts" : "/rings");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        if (contexts) {
            Table table = new Table(
                    "NODE",
                    "CONTEXT",
                    "STATE",
                    "GENERATION",
                    "ACTIONS",
                    "FAILED",
                    "EVENTS",
                    "MEMORIES",
                    "RINGS",
                    "POLLED");
            for (JsonNode c : answer.path("contexts")) {
                row(
                        table,
                        c,
                        "node",
                        "number",
                        "state",
                        "generation",
                        "actions",
                        "failures",
                        "events",
                        "memories",
                        "rings",
                        "polled");
            }
            table.print(out);
            return;
        }
        Table table = new Table(
                "NODE", "RING", "STATE", "CONTEXT", "CAPACITY", "USED", "SHARED", "PUT", "GOT", "REFUSED", "WAITING");
        for (JsonNode r : answer.path("rings")) {
            row(
                    table,
                    r,
                    "node",
                    "id",
                    "state",
                    "context",
                    "capacity",
                    "used",
                    "shared",
                    "put",
                    "got",
                    "refused",
                    "waiting");
        }
        table.print(out);
    }

    private static void row(Table table, JsonNode of, String... fields) {
        table.row(Arrays.stream(fields).map(f -> text(of.path(f))).toArray());
    }
}
