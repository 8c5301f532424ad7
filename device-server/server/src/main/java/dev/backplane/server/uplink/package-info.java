// SPDX-License-Identifier: Apache-2.0
/** Far sides of uplink ports: what connects the switch fabric with the world outside of the guests. */
package dev.backplane.server.uplink;
