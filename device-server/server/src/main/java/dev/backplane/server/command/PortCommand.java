// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code backplane port}: takes a node's port up or down, as pulling its cable does. */
@Command(
        name = "port",
        description = "Set the admin state of a node's port: the guest sees its link go up or down.",
        mixinStandardHelpOptions = true)
public final class PortCommand extends ClientCommand {
    /** Admin state of a port. */
    enum Admin {
        UP,
        DOWN
    }

    @Parameters(index = "0", paramLabel = "NODE", description = "Name of the node or uplink.")
    private String node;

    @Parameters(index = "1", paramLabel = "up|down", description = "The state to set.")
    private Admin admin;

    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.put(
                pathOf(server, node) + "/port", Map.of("admin", admin.name().toLowerCase(Locale.ROOT)));
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        out.println(node + ": port " + text(answer.path("admin")) + ", link " + text(answer.path("link")));
    }
}
