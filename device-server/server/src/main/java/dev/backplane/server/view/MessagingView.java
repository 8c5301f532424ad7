// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backplane.devices.imm.MessagingModule;
import dev.backplane.server.api.Json;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.NodeRuntime;
import java.util.List;
import java.util.function.Function;

/** Contexts and rings of the messaging modules as JSON; each with the name of its node. */
final class MessagingView {
    private MessagingView() {}

    /** All rings of all nodes. */
    static ObjectNode rings(DeviceServer server) {
        return list(server, "rings", MessagingModule::ringViews);
    }

    /** The contexts of all nodes that are, or have been, bound to a process. */
    static ObjectNode contexts(DeviceServer server) {
        return list(
                server,
                "contexts",
                module -> module.contextViews().stream()
                        .filter(c -> c.generation() != 0)
                        .toList());
    }

    private static ObjectNode list(
            DeviceServer server, String name, Function<MessagingModule, ? extends List<?>> views) {
        ObjectNode answer = Json.MAPPER.createObjectNode();
        ArrayNode all = answer.putArray(name);
        for (NodeRuntime n : server.nodes()) {
            for (Object view : views.apply(n.module())) {
                ObjectNode item = all.addObject().put("node", n.node().name());
                item.setAll((ObjectNode) Json.MAPPER.valueToTree(view));
            }
        }
        return answer;
    }
}
