// SPDX-License-Identifier: Apache-2.0
/**
 * The aggregation device: a vNIC for each node, and the fabric that they are attached to. Start at {@link
 * dev.backplane.devices.agg.SwitchFabric}; the layouts are those of registers, rings and descriptors.
 */
package dev.backplane.devices.agg;
