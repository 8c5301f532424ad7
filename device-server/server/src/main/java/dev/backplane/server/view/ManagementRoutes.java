// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.view;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.server.api.Json;
import dev.backplane.server.api.Response;
import dev.backplane.server.api.Router;
import dev.backplane.server.api.Router.Request;
import dev.backplane.server.api.Router.RequestException;
import dev.backplane.server.run.DeviceKind;
import dev.backplane.server.run.DeviceServer;
import dev.backplane.server.run.DeviceSocket;
import dev.backplane.server.run.NodeRuntime;
import dev.backplane.server.trace.TraceStream;
import dev.backplane.server.trace.TraceTap;
import dev.backplane.server.uplink.Uplink;
import java.util.List;

/** All that the management interface answers. */
public final class ManagementRoutes {
    private final DeviceServer server;

    private ManagementRoutes(DeviceServer server) {
        this.server = server;
    }

    /** The routes for a server. */
    public static Router of(DeviceServer server) {
        ManagementRoutes m = new ManagementRoutes(server);
        Router routes = new Router();
        return routes.add("GET", "/", "this list", r -> Response.json(routes.index()))
                .add("GET", "/nodes", "all nodes", r -> Response.json(NodeView.all(server)))
                .add("GET", "/nodes/{node}", "one node", r -> Response.json(NodeView.of(server, m.node(r))))
                .add(
                        "GET",
                        "/nodes/{node}/counters",
                        "what is counted for a node",
                        r -> Response.json(CounterView.of(m.node(r))))
                .add("GET", "/nodes/{node}/port", "a node's port", m::port)
                .add("PUT", "/nodes/{node}/port", "takes it up or down: {\"admin\": \"up\" or \"down\"}", m::setPort)
                .add(
                        "GET",
                        "/nodes/{node}/trace",
                        "messages as they come; ?device=agg or imm; ?format=lines or pcapng",
                        m::trace)
                .add("GET", "/uplinks", "all uplinks", r -> Response.json(UplinkView.all(server)))
                .add("GET", "/uplinks/{uplink}", "one uplink", r -> Response.json(UplinkView.of(server, m.uplink(r))))
                .add(
                        "GET",
                        "/uplinks/{uplink}/counters",
                        "what is counted for an uplink",
                        r -> Response.json(CounterView.of(m.uplink(r))))
                .add("GET", "/uplinks/{uplink}/port", "an uplink's port", m::uplinkPort)
                .add("PUT", "/uplinks/{uplink}/port", "as for a node", m::setUplinkPort)
                .add("GET", "/counters", "all that is counted", r -> Response.json(CounterView.all(server)))
                .add(
                        "GET",
                        "/metrics",
                        "the same for Prometheus",
                        r -> new Response.Text(Metrics.CONTENT_TYPE, Metrics.text(server)))
                .add(
                        "GET",
                        "/macs",
                        "addresses that the switch fabric knows",
                        r -> Response.json(FabricView.addresses(server.fabric())))
                .add(
                        "GET",
                        "/memory",
                        "use of rendezvous memory",
                        r -> Response.json(FabricView.memory(server.fabric())))
                .add("GET", "/rings", "ring buffers of all nodes", r -> Response.json(MessagingView.rings(server)))
                .add(
                        "GET",
                        "/contexts",
                        "GET/PUT contexts of all nodes that have been used",
                        r -> Response.json(MessagingView.contexts(server)))
                .add(
                        "GET",
                        "/config",
                        "the effective configuration",
                        r -> Response.json(server.topology().show()))
                .add("GET", "/threads", "a thread dump", r -> new Response.Text("text/plain", ThreadDump.text()));
    }

    private NodeRuntime node(Request request) throws RequestException {
        String name = request.path().get("node");
        NodeRuntime node = server.node(name);
        if (node == null) {
            throw new RequestException(404, "there is no node '" + name + "': 'backplane nodes' lists them");
        }
        return node;
    }

    private Response port(Request request) throws RequestException {
        return Response.json(NodeView.of(server, node(request)).port());
    }

    private Response setPort(Request request) throws RequestException {
        node(request).vnic().setAdminUp(adminUp(request));
        return port(request);
    }

    private Uplink uplink(Request request) throws RequestException {
        String name = request.path().get("uplink");
        Uplink uplink = server.uplink(name);
        if (uplink == null) {
            throw new RequestException(404, "there is no uplink '" + name + "': 'backplane uplinks' lists them");
        }
        return uplink;
    }

    private Response uplinkPort(Request request) throws RequestException {
        return Response.json(UplinkView.of(server, uplink(request)).port());
    }

    private Response setUplinkPort(Request request) throws RequestException {
        uplink(request).port().setAdminUp(adminUp(request));
        return uplinkPort(request);
    }

    private static boolean adminUp(Request request) throws RequestException {
        JsonNode admin;
        try {
            admin = Json.MAPPER.readTree(request.body()).path("admin");
        } catch (JsonProcessingException e) {
            throw new RequestException(400, "the body is not JSON: " + e.getOriginalMessage());
        }
        return switch (admin.asText()) {
            case "up" -> true;
            case "down" -> false;
            default -> throw new RequestException(400, "'admin' is up or down, not " + admin);
        };
    }

    private Response trace(Request request) throws RequestException {
        NodeRuntime node = node(request);
        String device = request.query().get("device");
        List<TraceTap> taps = node.sockets().stream()
                .filter(s -> device == null || s.kind().label().equals(device))
                .map(DeviceSocket::trace)
                .toList();
        if (taps.isEmpty()) {
            throw new RequestException(
                    400,
                    "'device' is " + DeviceKind.AGG.label() + " or " + DeviceKind.IMM.label() + ", not '" + device
                            + "'");
        }
        String format = request.query().getOrDefault("format", "lines");
        return switch (format) {
            case "lines" ->
                new Response.Stream("text/plain", sink -> TraceStream.lines(taps, sink, server.traceCounts()));
            case "pcapng" ->
                new Response.Stream(
                        "application/x-pcapng", sink -> TraceStream.pcapng(taps, sink, server.traceCounts()));
            default -> throw new RequestException(400, "'format' is lines or pcapng, not '" + format + "'");
        };
    }
}
