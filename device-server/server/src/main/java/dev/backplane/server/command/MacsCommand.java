// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code backplane macs}: the MAC table of the switch fabric. */
@Command(
        name = "macs",
        description = "Show which MAC address the switch fabric knows behind which port.",
        mixinStandardHelpOptions = true)
public final class MacsCommand extends ClientCommand {
    @Override
    JsonNode ask(ApiClient server) throws IOException {
        return server.get("/macs");
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        Table table = new Table("MAC", "PARTITION", "VLAN", "PORT", "KIND", "LAST_SEEN_S");
        for (JsonNode m : answer.path("macs")) {
            table.row(
                    text(m.path("mac")),
                    text(m.path("partition")),
                    text(m.path("vlan")),
                    text(m.path("port")),
                    text(m.path("kind")),
                    text(m.path("last_seen_s")));
        }
        table.print(out);
    }
}
