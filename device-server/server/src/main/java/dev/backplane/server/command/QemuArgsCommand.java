// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backplane.server.api.ApiClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code backplane qemu-args}: what QEMU has to be told so that its guest becomes a node. */
@Command(
        name = "qemu-args",
        description = {
            "Print the QEMU arguments that make a guest a node: shared memory and both devices.",
            "QEMU 10.1 or later is needed. In a shell: eval \"qemu-system-x86_64 $(backplane qemu-args node1) ...\""
        },
        mixinStandardHelpOptions = true)
public final class QemuArgsCommand extends ClientCommand {
    @Parameters(paramLabel = "NODE", description = "Name of the node.")
    private String node;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            defaultValue = "512M",
            description = "Memory of the guest, as QEMU writes sizes (default ${DEFAULT-VALUE}).")
    private String memory;

    @Option(names = "--machine", defaultValue = "q35", description = "Machine type (default ${DEFAULT-VALUE}).")
    private String machine;

    @Option(
            names = "--msg-timeout",
            paramLabel = "SECONDS",
            description = "How long QEMU waits for an answer of the device server; raise it to debug the server"
                    + " (QEMU's own default is 5).")
    private Integer timeout;

    @Option(names = "--lines", description = "One argument a line, not quoted: for 'mapfile -t'.")
    private boolean lines;

    @Override
    JsonNode ask(ApiClient server) throws IOException {
        JsonNode description = server.get("/nodes/" + node);
        ArrayNode arguments = JsonNodeFactory.instance.arrayNode();
        arguments.add("-machine").add(machine + ",memory-backend=m");
        arguments.add("-m").add(memory);
        // share=on: the device server maps the guest's memory, or every access would be a message.
        arguments.add("-object").add("memory-backend-memfd,id=m,size=" + memory + ",share=on");
        for (String device : new String[] {"agg", "imm"}) {
            arguments
                    .add("-device")
                    .add(device(device, description.path(device).path("socket").asText()));
        }
        return arguments;
    }

    private String device(String name, String socket) {
        ObjectNode device = JsonNodeFactory.instance
                .objectNode()
                .put("driver", "vfio-user-pci")
                .put("id", name + "0");
        device.putObject("socket").put("type", "unix").put("path", socket);
        if (timeout != null) {
            device.put("x-msg-timeout", timeout * 1000L);
        }
        return device.toString();
    }

    @Override
    void show(JsonNode answer, PrintWriter out) {
        List<String> arguments = new ArrayList<>();
        answer.forEach(a -> arguments.add(lines ? a.asText() : quote(a.asText())));
        out.println(String.join(lines ? "\n" : " ", arguments));
    }

    private static String quote(String argument) {
        return argument.matches("[A-Za-z0-9_/.,=-]+") ? argument : "'" + argument.replace("'", "'\\''") + "'";
    }
}
