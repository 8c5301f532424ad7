// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import dev.backplane.server.api.Response;
import dev.backplane.server.api.Router;
import dev.backplane.server.run.DeviceServer;

/** All that the management interface answers. */
public final class ManagementRoutes {
    private ManagementRoutes() {}

    /** The routes for a server. */
    public static Router of(DeviceServer server) {
        Router routes = new Router();
        routes.add("GET", "/", "this list", r -> Response.json(routes.index()));
        routes.add(
                "GET",
                "/config",
                "the effective configuration",
                r -> Response.json(server.topology().show()));
        routes.add("GET", "/threads", "a thread dump", r -> new Response.Text("text/plain", ThreadDump.text()));
        return routes;
    }
}
