// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane uplinks}: the ports that are not guests, and what is behind them. */
@Command(name = "uplinks", description = "List the uplinks of a running server.", mixinStandardHelpOptions = true)
public final class UplinksCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get("/uplinks");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        Table table = new Table("UPLINK", "PARTITION", "PORT", "LINK", "MTU", "KIND", "STATE", "ENDPOINT");
        for (JsonNode u : answer.path("uplinks")) {
            table.row(
                    text(u.path("name")),
                    text(u.path("partition")),
                    text(u.path("port").path("admin")),
                    text(u.path("port").path("link")),
                    text(u.path("mtu")),
                    text(u.path("kind")),
                    text(u.path("state")),
                    text(u.path("endpoint")));
        }
        table.print(out);
    }
}
