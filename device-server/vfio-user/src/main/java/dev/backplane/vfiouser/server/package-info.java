// SPDX-License-Identifier: Apache-2.0
/**
 * Serves a {@link dev.backplane.vfiouser.device.PciDevice} to a vfio-user client, such as QEMU, over a Unix socket: start
 * with {@link dev.backplane.vfiouser.server.VfioUserServer}.
 */
package dev.backplane.vfiouser.server;
