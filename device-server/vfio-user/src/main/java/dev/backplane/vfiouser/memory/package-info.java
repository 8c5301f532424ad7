// SPDX-License-Identifier: Apache-2.0
/** Guest memory as the client has mapped it: windows, bounds, reads, writes, copies, and safe unmapping. */
package dev.backplane.vfiouser.memory;
