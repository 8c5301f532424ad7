// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane nodes}: the nodes and how they are doing. */
@Command(name = "nodes", description = "List the nodes of a running server.", mixinStandardHelpOptions = true)
public final class NodesCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get("/nodes");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        Table table = new Table("NODE", "ID", "MAC", "PARTITION", "PORT", "LINK", "AGG", "IMM");
        for (JsonNode n : answer.path("nodes")) {
            table.row(
                    text(n.path("name")),
                    text(n.path("id")),
                    text(n.path("mac")),
                    text(n.path("partition")),
                    text(n.path("port").path("admin")),
                    text(n.path("port").path("link")),
                    connection(n.path("agg")),
                    connection(n.path("imm")));
        }
        table.print(out);
    }

    private static String connection(JsonNode device) {
        String state = device.path("connected").asBoolean() ? "connected" : "waiting";
        return device.path("bus_master").asBoolean() ? state + ",master" : state;
    }
}
