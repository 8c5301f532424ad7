// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane threads}: what every thread of a server does just now. */
@Command(name = "threads", description = "Print a thread dump of a running server.", mixinStandardHelpOptions = true)
public final class ThreadsCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return TextNode.valueOf(server.text("/threads"));
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        out.print(answer.asText());
    }
}
