// SPDX-License-Identifier: Apache-2.0
/** Test support: a guest without QEMU and without a socket, to drive a device model by its registers and its memory. */
package dev.backplane.devices.sim;
