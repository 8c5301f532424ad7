// SPDX-License-Identifier: Apache-2.0
/**
 * What lies between two ports: rendezvous memory, memory output queues, the choice of output ports, and the moves out.
 * It knows ports, not what is behind them; see {@link dev.backplane.devices.agg} for vNICs.
 */
package dev.backplane.devices.fabric;
