// SPDX-License-Identifier: Apache-2.0
/**
 * The other side of a vfio-user socket: {@link dev.backplane.vfiouser.client.VfioUserClient} drives a device as a virtual
 * machine monitor does, without one. Tests and benchmarks use it for simulated guests, a host process to join as a node.
 */
package dev.backplane.vfiouser.client;
