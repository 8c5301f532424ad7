// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code backplane rings}: the rings of the messaging modules, or their contexts. */
@Command(
        name = "rings",
        description = "Show the ring buffers of the messaging modules, or with --contexts their open contexts.",
        mixinStandardHelpOptions = true)
public final class RingsCommand extends ClientCommand {
    @Option(names = "--contexts", description = "Show the open contexts instead.")
    private boolean contexts;

    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get(contexts ? "/contexts" : "/rings");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        if (contexts) {
            Table table = new Table("NODE", "CONTEXT", "GENERATION", "STATE", "ACTIONS");
            for (JsonNode c : answer.path("contexts")) {
                table.row(
                        text(c.path("node")),
                        text(c.path("context")),
                        text(c.path("generation")),
                        text(c.path("state")),
                        text(c.path("actions")));
            }
            table.print(out);
            return;
        }
        Table table = new Table("NODE", "RING", "OWNER", "BYTES", "USED", "ELEMENTS", "STATE");
        for (JsonNode r : answer.path("rings")) {
            table.row(
                    text(r.path("node")),
                    text(r.path("ring")),
                    text(r.path("owner")),
                    text(r.path("bytes")),
                    text(r.path("used_bytes")),
                    text(r.path("elements")),
                    text(r.path("state")));
        }
        table.print(out);
    }
}
