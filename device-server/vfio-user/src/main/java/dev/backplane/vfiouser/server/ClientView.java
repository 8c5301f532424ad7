// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.Capabilities;

/**
 * The client of a device as of one moment.
 *
 * @param pid its process id when it connected; 0 when it is not in a namespace that we see
 * @param capabilities what it said it can take; null until a version has been agreed on
 */
public record ClientView(int pid, Capabilities capabilities) {}
