// SPDX-License-Identifier: Apache-2.0
/** Watching the vfio-user messages of a node: as lines to read, and as a pcapng file for Wireshark. */
package dev.backplane.server.trace;
