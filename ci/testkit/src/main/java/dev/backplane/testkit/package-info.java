// SPDX-License-Identifier: Apache-2.0
/**
 * Boots real guests from a JUnit test: declare nodes, run commands in them, watch their consoles, kill and reboot them.
 * Knows QEMU and the guest agent; a {@link dev.backplane.testkit.Cluster} adds the Backplane device server, but a {@link
 * dev.backplane.testkit.Guest} also boots without it, with any device that QEMU has.
 */
package dev.backplane.testkit;
