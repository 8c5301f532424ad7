// SPDX-License-Identifier: Apache-2.0
/** Tests of the far sides of uplinks. */
package dev.backplane.server.uplink;
