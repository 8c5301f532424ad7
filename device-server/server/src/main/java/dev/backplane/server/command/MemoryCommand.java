// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane memory}: who holds how much of rendezvous memory. */
@Command(
        name = "memory",
        description = "Show the use of rendezvous memory, in all and for each output port.",
        mixinStandardHelpOptions = true)
public final class MemoryCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get("/memory");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        out.println("bytes " + text(answer.path("bytes")) + ", allocated " + text(answer.path("allocated_bytes"))
                + ", at most so far " + text(answer.path("high_water_bytes")));
        Table table = new Table("PORT", "STATE", "QUEUED", "HELD", "QUOTA");
        for (JsonNode p : answer.path("ports")) {
            table.row(
                    text(p.path("port")),
                    text(p.path("state")),
                    text(p.path("queued_frames")),
                    text(p.path("held_bytes")),
                    text(p.path("quota_bytes")));
        }
        table.print(out);
    }
}
