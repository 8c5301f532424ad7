// SPDX-License-Identifier: Apache-2.0
/** What the devices have in common with their drivers: ids, and the list of all layouts. */
package dev.backplane.devices.layout;
