// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

/** An answer of the management interface. */
public sealed interface Response {
    /** A value that is written as JSON. */
    record Json(int status, Object body) implements Response {}

    /** A text. */
    record Text(String contentType, String body) implements Response {}

    /** An answer without an end, which goes on until the client closes the connection or the server ends. */
    record Stream(String contentType, Source source) implements Response {}

    /** What feeds a {@link Stream}. */
    @FunctionalInterface
    interface Source {
        /** Starts to feed {@code sink}. The result is closed once, when nobody reads any more. */
        AutoCloseable start(Sink sink);
    }

    /** Where the bytes of a {@link Stream} go. Any thread may call. */
    interface Sink {
        /**
         * Hands over a piece of the answer. Never blocks.
         *
         * @return false when the reader is too slow: the piece is dropped
         */
        boolean offer(byte[] piece);
    }

    /** A value, with status 200. */
    static Response json(Object body) {
        return new Json(200, body);
    }

    /** A refusal in one line. */
    static Response error(int status, String message) {
        return new Json(status, new ErrorBody(message));
    }

    /** Body of a refusal. */
    record ErrorBody(String error) {}
}
