// SPDX-License-Identifier: Apache-2.0
/** What both devices share: the nodes that they belong to. */
package dev.backplane.devices;
