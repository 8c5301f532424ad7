// SPDX-License-Identifier: Apache-2.0
/**
 * The management interface: HTTP with JSON on the Unix socket {@code backplane.sock} of the run directory, and the client
 * for it that the command line uses. Everything that can be seen of a running server is seen through here.
 */
package dev.backplane.server.api;
