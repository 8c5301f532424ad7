// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Finds the handler of a request. Built once, then read by any thread. */
public final class Router {
    /** Answers a request. Runs on the event loop: it must not block. */
    @FunctionalInterface
    public interface Handler {
        Response handle(Request request) throws RequestException;
    }

    /**
     * A request as far as a handler needs it.
     *
     * @param path values of the {@code {…}} segments of the route
     * @param query parameters of the query, the last value of each
     * @param body the body as text, empty if there is none
     */
    public record Request(Map<String, String> path, Map<String, String> query, String body) {}

    /** A request that cannot be served: the client's fault. */
    public static final class RequestException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;

        /** {@code status} is an HTTP status from 400 to 499. */
        public RequestException(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private record Route(String method, List<String> pattern, String doc, Handler handler) {}

    private final List<Route> routes = new ArrayList<>();

    /** Adds a route; {@code pattern} is a path whose segments in braces match anything. */
    public Router add(String method, String pattern, String doc, Handler handler) {
        routes.add(new Route(method, segments(pattern), doc, handler));
        return this;
    }

    /** The routes and what they answer, for the index page and the documentation. */
    public Map<String, String> index() {
        Map<String, String> index = new LinkedHashMap<>();
        routes.forEach(r -> index.put(r.method + " /" + String.join("/", r.pattern), r.doc));
        return index;
    }

    /** Answers a request. Never throws for what a client sent. */
    Response route(String method, String path, Map<String, String> query, String body) {
        List<String> segments = segments(path);
        TreeSet<String> methods = new TreeSet<>();
        for (Route r : routes) {
            Map<String, String> variables = match(r.pattern, segments);
            if (variables == null) {
                continue;
            }
            if (!r.method.equals(method)) {
                methods.add(r.method);
                continue;
            }
            try {
                return r.handler.handle(new Request(variables, query, body));
            } catch (RequestException e) {
                return Response.error(e.status, e.getMessage());
            }
        }
        if (!methods.isEmpty()) {
            return Response.error(405, path + " allows " + String.join(", ", methods) + ", not " + method);
        }
        return Response.error(404, "there is no " + path + ": GET / lists what there is");
    }

    private static Map<String, String> match(List<String> pattern, List<String> segments) {
        if (pattern.size() != segments.size()) {
            return null;
        }
        Map<String, String> variables = new HashMap<>();
        for (int i = 0; i < pattern.size(); i++) {
            String expected = pattern.get(i);
            if (expected.startsWith("{")) {
                variables.put(expected.substring(1, expected.length() - 1), segments.get(i));
            } else if (!expected.equals(segments.get(i))) {
                return null;
            }
        }
        return variables;
    }

    private static List<String> segments(String path) {
        String inner = path.startsWith("/") ? path.substring(1) : path;
        return inner.isEmpty() ? List.of() : List.of(inner.split("/", -1));
    }
}
