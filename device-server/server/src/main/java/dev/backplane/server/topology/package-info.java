// SPDX-License-Identifier: Apache-2.0
/**
 * What a server is to be: its nodes, ports, uplinks and limits, read from a YAML file or made from {@code --nodes N}, checked
 * once at start, and fixed from then on. Every fault is told with file, line, value and what is allowed.
 */
package dev.backplane.server.topology;
