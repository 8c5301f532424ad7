// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.devices.Node;
import java.nio.file.Path;

/** A node with its two devices. */
public record NodeRuntime(Node node, Path aggSocket, Path immSocket) {}
