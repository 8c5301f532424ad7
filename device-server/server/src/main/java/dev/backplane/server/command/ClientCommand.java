// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command that asks a running server for something and shows it. */
abstract class ClientCommand implements Callable<Integer> {
    @Mixin
    private RunDirOption runDir;

    @Option(names = "--json", description = "Print the server's answer as JSON.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    /** Asks the server. */
    abstract JsonNode ask(ApiClient server) throws IOException;

    /** Shows the answer to a reader. */
    abstract void show(JsonNode answer, PrintWriter out);

    @Override
    public final Integer call() throws CommandException {
        PrintWriter out = spec.commandLine().getOut();
        try {
            JsonNode answer = ask(new ApiClient(runDir.apiSocket()));
            if (json) {
                out.println(answer.toPrettyString());
            } else {
                show(answer, out);
            }
            out.flush();
            return 0;
        } catch (IOException e) {
            throw new CommandException(CommandException.FAILED, e.getMessage(), e);
        }
    }

    /** Path of the uplink of that name, or else of the node. */
    static String pathOf(ApiClient server, String name) throws IOException {
        for (JsonNode u : server.get("/uplinks").path("uplinks")) {
            if (name.equals(text(u.path("name")))) {
                return "/uplinks/" + name;
            }
        }
        return "/nodes/" + name;
    }

    /** The value's text, or null if it is absent. */
    static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull() ? null : value.asText();
    }
}
