// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

/** A topology that cannot be used. The message has one line for each fault, each with file, line, value and cure. */
public final class TopologyException extends Exception {
    private static final long serialVersionUID = 1L;

    public TopologyException(String message) {
        super(message);
    }
}
