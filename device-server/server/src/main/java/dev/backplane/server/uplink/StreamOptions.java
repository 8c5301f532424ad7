// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import java.nio.file.Path;

/**
 * How a stream uplink meets its peer.
 *
 * @param path the Unix socket
 * @param listens whether it is the server of the socket, else its client
 * @param reconnectMillis longest pause between attempts of a client to connect
 */
public record StreamOptions(Path path, boolean listens, int reconnectMillis) {}
