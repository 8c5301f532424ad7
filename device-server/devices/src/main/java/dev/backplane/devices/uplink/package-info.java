// SPDX-License-Identifier: Apache-2.0
/**
 * Ports that are not a guest: an uplink has the fabric on one side and, behind two rings of frames, a far side that
 * somebody else drives, such as a socket or a network interface of the host.
 */
package dev.backplane.devices.uplink;
