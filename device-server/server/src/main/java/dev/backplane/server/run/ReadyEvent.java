// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The one line on standard output, as JSON, once everything listens. Programs that start a server wait for it.
 *
 * @param runDir the run directory
 * @param nodes the nodes and their sockets
 * @param api socket of the management interface
 */
public record ReadyEvent(Path runDir, List<NodeRuntime> nodes, Path api) {
    /** The line. Written field by field: data binding would take a good part of the server's start. */
    public String toJson() {
        StringWriter line = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(line)) {
            json.writeStartObject();
            json.writeStringField("event", "ready");
            json.writeNumberField("pid", ProcessHandle.current().pid());
            json.writeStringField("run_dir", runDir.toString());
            json.writeArrayFieldStart("nodes");
            for (NodeRuntime n : nodes) {
                json.writeStartObject();
                json.writeStringField("name", n.node().name());
                json.writeNumberField("id", n.node().id());
                json.writeStringField("agg", n.agg().server().path().toString());
                json.writeStringField("imm", n.imm().server().path().toString());
                json.writeStringField("mac", n.node().mac().toString());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeStringField("api", api.toString());
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return line.toString();
    }
}
